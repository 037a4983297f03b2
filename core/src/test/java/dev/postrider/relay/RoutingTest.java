package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A busy relay searches for topics, but not all the time. */
@Tag("EN-21")
class RoutingTest {
  private static final TestDatabase DATABASE = TestDatabase.create();

  private final AtomicLong now = new AtomicLong();
  private long stepNanos;
  private Runnable atEachReading = () -> {};
  private final Routing routing = new Routing(List.of(), Schema.DEFAULT, this::read);

  private long read() {
    atEachReading.run();
    return now.getAndAdd(stepNanos);
  }

  /** Searches once; the clock moves on by this much meanwhile. */
  private void discover(Duration took) throws Exception {
    stepNanos = took.toNanos();
    try (Connection connection = DATABASE.dataSource().getConnection()) {
      routing.discover(connection);
    }
    stepNanos = 0;
    now.addAndGet(-took.toNanos()); // the step after the last reading
  }

  private boolean dueAfter(Duration pause) {
    now.addAndGet(pause.toNanos());
    return routing.discoveryDue();
  }

  @Test
  void aQuickSearchIsRepeatedSoon() throws Exception {
    discover(Duration.ofMillis(1));
    assertThat(dueAfter(Duration.ofMillis(19))).isFalse();
    assertThat(dueAfter(Duration.ofMillis(1))).isTrue();
  }

  @Test
  void aSlowSearchTakesATenthOfTheTimeAtMost() throws Exception {
    discover(Duration.ofMillis(50));
    assertThat(dueAfter(Duration.ofMillis(499))).isFalse();
    assertThat(dueAfter(Duration.ofMillis(1))).isTrue();
  }

  @Test
  void aSearchAnswersTheRingsThatCameBeforeIt() throws Exception {
    routing.rungForAll();
    assertThat(routing.unknownRung()).isTrue();
    discover(Duration.ofMillis(1));
    assertThat(routing.unknownRung()).isFalse();
  }

  @Test
  void aRingDuringASearchIsNotAnsweredByIt() throws Exception {
    atEachReading = routing::rungForAll;
    discover(Duration.ofMillis(1));
    assertThat(routing.unknownRung()).isTrue();
  }

  @Test
  void aRingIsOpenUntilTheSearchHasFinished() throws Exception {
    routing.rungForAll();
    boolean[] open = {false};
    atEachReading = () -> open[0] = routing.unknownRung();
    discover(Duration.ofMillis(1));
    assertThat(open[0]).isTrue();
  }
}
