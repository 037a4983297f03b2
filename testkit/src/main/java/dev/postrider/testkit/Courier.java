package dev.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Hands messages to a destination as the engine does: no more than its concurrency at a time, and a
 * key's one after the other unless it keeps their order itself. Used by one thread.
 */
final class Courier {
  private final Destination destination;
  private final Duration timeout;
  private final Map<UUID, Queue<Outcome>> answers = new ConcurrentHashMap<>();

  Courier(Destination destination, Duration timeout) {
    this.destination = destination;
    this.timeout = timeout;
  }

  /** Sends everything and returns the answers in the order of the messages. */
  Map<UUID, Outcome> send(List<Message> messages) {
    Map<UUID, Outcome> outcomes = new LinkedHashMap<>();
    messages.forEach(message -> outcomes.put(message.id(), Outcome.unavailable("unsent", "")));
    List<Message> left = new ArrayList<>(messages);
    Set<String> failedKeys = new HashSet<>();
    while (!left.isEmpty()) {
      List<Message> batch = nextBatch(left);
      // What stands behind a failed message of its key is not sent before it.
      batch.removeIf(message -> message.key() != null && failedKeys.contains(message.key()));
      for (Map.Entry<UUID, Outcome> answer : deliver(batch).entrySet()) {
        outcomes.put(answer.getKey(), answer.getValue());
      }
      for (Message message : batch) {
        if (message.key() != null && !(outcomes.get(message.id()) instanceof Outcome.Delivered)) {
          failedKeys.add(message.key());
        }
      }
    }
    return outcomes;
  }

  private List<Message> nextBatch(List<Message> left) {
    List<Message> batch = new ArrayList<>();
    Map<String, Message> last = new HashMap<>();
    Set<String> waiting = new HashSet<>();
    for (Message message : left) {
      String key = message.key();
      if (batch.size() >= destination.concurrency()) {
        break;
      }
      if (key == null) {
        batch.add(message);
      } else if (!waiting.contains(key) && mayFollow(last.get(key), message)) {
        batch.add(message);
        last.put(key, message);
      } else {
        waiting.add(key);
      }
    }
    left.removeAll(batch);
    return batch;
  }

  private boolean mayFollow(@Nullable Message before, Message next) {
    return before == null || (destination.keepsOrder() && destination.mayFollow(before, next));
  }

  /** One call of the destination: no exception, and one answer for each message in time. */
  Map<UUID, Outcome> deliver(List<Message> batch) {
    CountDownLatch answered = new CountDownLatch(batch.size());
    Set<UUID> open = ConcurrentHashMap.newKeySet();
    batch.forEach(message -> open.add(message.id()));
    Queue<UUID> strangers = new ConcurrentLinkedQueue<>();
    Map<UUID, Outcome> outcomes = new ConcurrentHashMap<>();
    if (batch.isEmpty()) {
      return outcomes;
    }
    assertThatCode(
            () ->
                destination.deliver(
                    List.copyOf(batch),
                    (id, outcome) -> {
                      answers.computeIfAbsent(id, i -> new ConcurrentLinkedQueue<>()).add(outcome);
                      if (open.remove(id)) {
                        outcomes.put(id, outcome);
                        answered.countDown();
                      } else {
                        strangers.add(id);
                      }
                    }))
        .as("deliver() answers with outcomes and does not throw")
        .doesNotThrowAnyException();
    assertThat(await(answered))
        .as(
            "every message is answered within %s; %s of %s are not",
            timeout, open.size(), batch.size())
        .isTrue();
    assertThat(strangers).as("answers for messages not asked for, or given twice").isEmpty();
    return outcomes;
  }

  /** How many answers a message got in all of its deliveries. */
  int answersFor(UUID id) {
    Queue<Outcome> given = answers.get(id);
    return given == null ? 0 : given.size();
  }

  private boolean await(CountDownLatch latch) {
    try {
      return latch.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
