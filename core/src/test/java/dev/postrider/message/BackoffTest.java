package dev.postrider.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

class BackoffTest {
  @Property
  @Tag("LP-7")
  void theDelayIsBoundedDoublingWithinItsJitter(
      @ForAll @IntRange(min = 0, max = 40) int n,
      @ForAll @DoubleRange(min = 0, max = 1) double chance) {
    double expected = Math.min(60_000 * Math.pow(2, n), 3_600_000);
    assertThat((double) Backoff.WORKER.delay(n, chance).toMillis())
        .isBetween(expected * 0.7 - 1, expected * 1.3);
  }

  @Property
  @Tag("HE-7")
  void aRelayDoublesFromFiveSecondsToFifteenMinutes(
      @ForAll @IntRange(min = 0, max = 40) int attempts,
      @ForAll @DoubleRange(min = 0, max = 1) double chance) {
    double expected = Math.min(5_000 * Math.pow(2, attempts), 900_000);
    double jitter = Backoff.RELAY.jitter();
    assertThat(jitter).isPositive();
    assertThat((double) Backoff.RELAY.delay(attempts, chance).toMillis())
        .isBetween(expected * (1 - jitter) - 1, expected * (1 + jitter));
  }

  @Property
  @Tag("LP-7")
  void noDelayIsBelowOneSecondOrOverflows(
      @ForAll int attempts,
      @ForAll @IntRange(min = 1, max = 10_000) int baseMs,
      @ForAll @DoubleRange(min = 0, max = 0.99) double jitter) {
    Duration max = Duration.ofDays(30);
    Backoff backoff = new Backoff(Duration.ofMillis(baseMs), max, jitter);
    assertThat(backoff.delay(attempts)).isBetween(Duration.ofSeconds(1), max.multipliedBy(2));
  }

  @Example
  @Tag("LP-7")
  void chanceSpreadsEvenlyAroundTheMiddle() {
    assertThat(Backoff.WORKER).isEqualTo(backoff(60, 3600, 0.3));
    assertThat(Backoff.WORKER.delay(1, 0.5)).isEqualTo(Duration.ofMinutes(2));
    assertThat(Backoff.WORKER.delay(1, 0)).isEqualTo(Duration.ofSeconds(84));
    assertThat(Backoff.WORKER.delay(1, 1)).isEqualTo(Duration.ofSeconds(156));
  }

  @Example
  void allThatIsWrongIsSaidAtOnce() {
    assertThatThrownBy(() -> backoff(0, -1, 1))
        .isInstanceOf(PostriderException.class)
        .hasMessageContainingAll("base must be", "max must lie", "jitter must lie");
  }

  private static Backoff backoff(long base, long max, double jitter) {
    return new Backoff(Duration.ofSeconds(base), Duration.ofSeconds(max), jitter);
  }
}
