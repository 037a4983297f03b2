package dev.postrider.spring;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import io.micrometer.observation.Observation;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Observes each message from handing it over until it is answered. Thread-safe. */
final class ObservedDestination implements Destination {
  private final Destination next;
  private final Function<Message, Observation> start;

  ObservedDestination(Destination next, Function<Message, Observation> start) {
    this.next = next;
    this.start = start;
  }

  @Override
  public void deliver(List<Message> batch, Answers answers) {
    Observed observed = new Observed(answers);
    batch.forEach(observed::begin);
    try {
      next.deliver(batch, observed);
    } catch (RuntimeException | Error e) {
      observed.failed(e);
      throw e;
    }
  }

  /** The answers for one batch. */
  private final class Observed implements Answers {
    private final Answers answers;
    private final Map<UUID, Observation> open = new ConcurrentHashMap<>();

    Observed(Answers answers) {
      this.answers = answers;
    }

    void begin(Message message) {
      open.put(message.id(), start.apply(message));
    }

    void failed(Throwable thrown) {
      open.values().forEach(observation -> observation.error(thrown));
      open.keySet().forEach(id -> end(id, "thrown"));
    }

    private void end(UUID id, String outcome) {
      Observation observation = open.remove(id);
      if (observation != null) {
        observation.lowCardinalityKeyValue("outcome", outcome).stop();
      }
    }

    @Override
    public void answer(UUID id, Outcome outcome) {
      end(id, outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT));
      answers.answer(id, outcome);
    }

    @Override
    public @Nullable Message deliveredNext(UUID id) {
      end(id, "delivered");
      Message following = answers.deliveredNext(id);
      if (following != null) {
        begin(following);
      }
      return following;
    }
  }

  @Override
  public boolean keepsOrder() {
    return next.keepsOrder();
  }

  @Override
  public boolean mayFollow(Message before, Message following) {
    return next.mayFollow(before, following);
  }

  @Override
  public @Nullable String target(Message message) {
    return next.target(message);
  }

  @Override
  public String type() {
    return next.type();
  }

  @Override
  public int concurrency() {
    return next.concurrency();
  }

  @Override
  public Duration answersWithin() {
    return next.answersWithin();
  }

  @Override
  public void close() {
    next.close();
  }
}
