package dev.postrider.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.retention.RetentionState;
import dev.postrider.retention.RetentionTask;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the soak calls flat, and what it does not. */
class VerdictTest {
  private static final Map<String, Long> USUAL =
      Map.of("messages", 300L, "heap", 40_000L, "held", 5L, "p99 us", 9_000L, "message", 5_000L);

  /** Sixty samples, one value of which changes with time. */
  private static List<Sample> samples(String name, LongUnaryOperator value) {
    List<Sample> samples = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      Map<String, Long> values = new HashMap<>(USUAL);
      values.put("seconds", (long) i);
      values.put(name, value.applyAsLong(i));
      samples.add(new Sample(values));
    }
    return samples;
  }

  @Test
  void whatStaysAsItWasIsFlat() {
    assertThat(Verdict.of(samples("message", i -> 5_000))).isEmpty();
  }

  @Test
  void whatGrowsIsNamedWithBothMedians() {
    assertThat(Verdict.of(samples("message", i -> 10_000 + 600 * i)))
        .as("28000 to 40000 KiB is within the bound")
        .isEmpty();
    assertThat(Verdict.of(samples("message", i -> i < 40 ? 5_000 : 5_000 * (i - 38))))
        .containsExactly("message grew from 5000 to 60000 (medians)");
    assertThat(Verdict.of(samples("heap", i -> i < 40 ? 40_000 : 90_000)))
        .containsExactly("heap grew from 40000 to 90000 (medians)");
    assertThat(Verdict.of(samples("p99 us", i -> i < 40 ? 9_000 : 60_000)))
        .containsExactly("p99 us grew from 9000 to 60000 (medians)");
  }

  @Test
  void oneConnectionThatIsKeptIsSeen() {
    assertThat(Verdict.of(samples("held", i -> i < 39 ? 5 : 6)))
        .containsExactly("held connections grew from 5 to 6 (fewest)");
    assertThat(Verdict.of(samples("held", i -> i < 39 || i == 55 ? 5 : 9)))
        .as("in one look of the last third they were back")
        .isEmpty();
  }

  @Test
  void aTransactionThatStaysOpenIsSeen() {
    assertThat(Verdict.of(samples("open", i -> 1))).containsExactly("1 transactions stay open");
    assertThat(Verdict.of(samples("open", i -> i == 50 ? 0 : 1))).isEmpty();
  }

  @Test
  void theFirstThirdWarmsUpAndAPeakIsNoGrowth() {
    assertThat(Verdict.of(samples("message", i -> i < 20 ? 0 : 5_000))).isEmpty();
    assertThat(Verdict.of(samples("p99 us", i -> i == 50 ? 9_000_000 : 9_000))).isEmpty();
  }

  @Test
  void lessTrafficIsNoProof() {
    assertThat(Verdict.of(samples("messages", i -> i < 40 ? 300 : 100)))
        .containsExactly("fewer messages: 100 after 300");
  }

  private static RetentionState state(RetentionTask task, @Nullable String error, long removed) {
    return new RetentionState(
        task.label(), Duration.ofSeconds(5), Instant.EPOCH, null, null, error, removed, removed);
  }

  @Test
  void everyTaskMustHaveRunAndRemovedSomething() {
    List<RetentionState> states = new ArrayList<>();
    for (RetentionTask task : RetentionTask.values()) {
      states.add(state(task, null, 7));
    }
    assertThat(Verdict.ofRetention(states)).isEmpty();
    states.removeIf(state -> state.task().equals("inbox"));
    states.set(0, state(RetentionTask.MESSAGES, "no space", 7));
    states.set(1, state(RetentionTask.DEDUPE_KEYS, null, 0));
    assertThat(Verdict.ofRetention(states))
        .containsExactly(
            "retention of messages failed: no space",
            "retention of dedupe_keys removed nothing",
            "retention of inbox never ran");
  }
}
