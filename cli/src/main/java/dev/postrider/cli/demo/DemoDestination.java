package dev.postrider.cli.demo;

import dev.postrider.dispatch.Destination;
import dev.postrider.dispatch.HandlerDestination;
import dev.postrider.message.Backoff;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes a few milliseconds, fails now and then, and refuses some for good. What a message's fate is
 * follows from its id, so that a requeued one may go through. Holds no state.
 */
public final class DemoDestination {
  private DemoDestination() {}

  public static Destination open() {
    return HandlerDestination.of(4, DemoDestination::receive);
  }

  /** Quick, for people who watch. A payment's successors wait for it; others go on. */
  public static RetryPolicy retry(boolean block) {
    RetryPolicy usual = RetryPolicy.DEFAULT;
    return new RetryPolicy(
        new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10), usual.backoff().jitter()),
        4,
        block ? DeadPolicy.BLOCK : DeadPolicy.SKIP);
  }

  private static Outcome receive(Message message) {
    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(2_000_000, 30_000_000));
    int fate = Math.floorMod(message.id().hashCode(), 1000);
    if (message.delivery() > 1) { // an operator sends it again, so somebody has repaired something
      return Outcome.delivered();
    } else if (message.route().topic().equals("mails") && fate < 40) {
      return Outcome.terminal("bad_address", "550 no such mailbox");
    } else if (message.route().topic().equals("payments") && fate < 15) {
      return Outcome.retryable("declined", "the bank does not know the account");
    } else if (fate >= 900 && message.attempt() <= 1 + fate % 2) {
      return Outcome.retryable("timeout", "no answer within 2 s");
    }
    return Outcome.delivered();
  }
}
