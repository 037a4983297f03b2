package dev.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * What a {@link dev.postrider.destination.Destination} must do while its other side is away, and
 * when it comes back: on top of everything in {@link DestinationContract}. Not thread-safe.
 */
public abstract class OutageContract extends DestinationContract {
  /** Switches the other side off; returns when nothing can arrive any more. */
  protected abstract void breakOff() throws Exception;

  /** Switches it on again, with everything that had arrived still there. */
  protected abstract void repair() throws Exception;

  @Test
  public void anOutageIsAnOutcomeAndCountsAsNoDelivery() throws Exception {
    allArrive(messages(null, 1, 5));
    breakOff();
    List<Message> messages = messages(null, 6, 20);
    Map<UUID, Outcome> outcomes = courier().send(messages);
    assertThat(outcomes.values())
        .allMatch(
            outcome ->
                outcome instanceof Outcome.Unavailable
                    || outcome instanceof Outcome.Retryable
                    || outcome instanceof Outcome.NotSent,
            "may be tried again");
    repair();
    assertThat(byId(arrived()).keySet()).doesNotContainAnyElementsOf(ids(messages));
  }

  @Test
  public void deliversAgainAfterAnOutage() throws Exception {
    breakOff();
    List<Message> messages = messages("k", 1, 10);
    courier().send(messages);
    repair();
    sendUntilDelivered(messages);
    assertThat(sequencesArrived("k", 10)).isSorted();
  }

  @Test
  public void keepsAKeysOrderThroughAnOutage() throws Exception {
    assertDelivered(courier().send(messages("k", 1, 20)));
    breakOff();
    List<Message> held = messages("k", 21, 20);
    assertNoneBehindAFailedOne(held, courier().send(held));
    repair();
    sendUntilDelivered(held);
    assertDelivered(courier().send(messages("k", 41, 20)));
    assertThat(sequencesArrived("k", 60)).isSorted();
  }

  @Test
  public void closesPromptlyDuringAnOutage() throws Exception {
    breakOff();
    courier().send(messages(null, 1, 3));
    try {
      closesPromptlyAndMoreThanOnce();
    } finally {
      repair();
    }
  }

  private static void assertNoneBehindAFailedOne(
      List<Message> messages, Map<UUID, Outcome> outcomes) {
    boolean failed = false;
    for (Message message : messages) {
      boolean delivered = outcomes.get(message.id()) instanceof Outcome.Delivered;
      assertThat(failed && delivered).as("delivered behind a failed one of its key").isFalse();
      failed |= !delivered;
    }
  }

  /** As the engine would: from the first that failed, in order. */
  private void sendUntilDelivered(List<Message> messages) {
    List<Message> left = new ArrayList<>(messages);
    await()
        .atMost(timeout())
        .until(
            () -> {
              Map<UUID, Outcome> outcomes = courier().send(left);
              left.removeIf(m -> outcomes.get(m.id()) instanceof Outcome.Delivered);
              return left.isEmpty();
            });
  }
}
