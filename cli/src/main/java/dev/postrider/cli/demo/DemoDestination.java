package dev.postrider.cli.demo;

import dev.postrider.destination.Destination;
import dev.postrider.message.Backoff;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Fails now and then, refuses some for good, and passes the others on. What becomes of a message
 * follows from its id; what an operator sends again goes through. Thread-safe if the next one is.
 */
public final class DemoDestination implements Destination {
  /** Not all, or in the end every key would wait. */
  private static final Set<String> UNLUCKY = Set.of("customer-1", "customer-2", "customer-3");

  private final Destination next;

  public DemoDestination(Destination next) {
    this.next = next;
  }

  /** Quick, for people who watch. A payment's successors wait for it; others go on. */
  public static RetryPolicy retry(boolean block) {
    Backoff usual = RetryPolicy.DEFAULT.backoff();
    return new RetryPolicy(
        new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10), usual.jitter()),
        4,
        block ? DeadPolicy.BLOCK : DeadPolicy.SKIP);
  }

  @Override
  public void deliver(List<Message> batch, Answers answers) {
    List<Message> good = new ArrayList<>();
    for (Message message : batch) {
      @Nullable Outcome failure = failure(message);
      if (failure == null) {
        good.add(message);
      } else {
        answers.answer(message.id(), failure);
      }
    }
    if (!good.isEmpty()) {
      next.deliver(good, answers);
    }
  }

  private static @Nullable Outcome failure(Message message) {
    int fate = Math.floorMod(message.id().hashCode(), 1000);
    String topic = message.route().topic();
    String key = message.key() == null ? "" : message.key();
    if (message.delivery() > 1) {
      return null;
    } else if (topic.equals("mails") && fate < 80) {
      return Outcome.terminal("bad_address", "550 no such mailbox");
    } else if (topic.equals("payments") && fate < 120 && UNLUCKY.contains(key)) {
      return Outcome.retryable("declined", "the bank does not know the account");
    } else if (fate >= 900 && message.attempt() <= 1 + fate % 2) {
      return Outcome.retryable("timeout", "no answer within 2 s");
    }
    return null;
  }

  @Override
  public void close() {
    next.close();
  }
}
