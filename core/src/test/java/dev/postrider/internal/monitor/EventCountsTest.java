package dev.postrider.internal.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.monitor.EventCounts.Interval;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("CH-6")
class EventCountsTest {
  private final TestDatabase database = TestDatabase.create();
  private final Courier courier = new Courier(database);
  private final EventCounts counts = new EventCounts(database.dataSource(), Schema.DEFAULT);
  private final Instant from =
      Instant.now().truncatedTo(ChronoUnit.MICROS).minus(1, ChronoUnit.HOURS);
  private final Instant to = from.plus(2, ChronoUnit.HOURS);

  private List<Interval> count(Map<String, String> conditions) throws Exception {
    return counts.count(conditions, from, to, Duration.ofMinutes(30));
  }

  private static long sum(List<Interval> intervals, ToLongFunction<Interval> of) {
    return intervals.stream().mapToLong(of).sum();
  }

  @Test
  void countsWhatWasMadeAndWhatBecameOfIt() throws Exception {
    courier.enqueue("'shop', 'orders', tenant => 't', event_type => 'paid'");
    courier.enqueue("'shop', 'bills', aggregate_type => 'bill', aggregate_id => '1'");
    courier.deliver();
    courier.enqueue("'shop', 'orders', tenant => 'u', event_type => 'paid'");
    courier.kill("E1");
    courier.enqueue("'hr', 'staff'");

    List<Interval> all = count(Map.of());
    assertThat(all).hasSize(4).allMatch(Interval::complete);
    assertThat(all.get(0).startsAt()).isEqualTo(from);
    assertThat(sum(all, Interval::events)).isEqualTo(4);
    assertThat(sum(all, Interval::delivered)).isEqualTo(2);
    assertThat(sum(all, Interval::failed)).isEqualTo(1);
    assertThat(sum(count(Map.of("tenant", "t")), Interval::events)).isEqualTo(1);
    assertThat(sum(count(Map.of("namespace", "shop")), Interval::events)).isEqualTo(3);
    assertThat(sum(count(Map.of("event_type", "paid")), Interval::delivered)).isEqualTo(1);
    assertThat(sum(count(Map.of("aggregate_type", "bill", "aggregate_id", "1")), Interval::events))
        .isEqualTo(1);
    assertThat(
            sum(
                counts.count(Map.of(), from, from.plusSeconds(60), Duration.ofSeconds(7)),
                Interval::events))
        .isZero();
  }

  @Test
  void anIntervalWithTooManySaysSo() throws Exception {
    database.fillLog(60_000);
    List<Interval> some = count(Map.of());
    assertThat(some).filteredOn(interval -> !interval.complete()).hasSize(1);
    assertThat(sum(some, Interval::events)).isBetween(50_000L, 60_000L);
    assertThat(counts.count(Map.of(), from, to, Duration.ofHours(2)))
        .singleElement()
        .satisfies(
            interval -> {
              assertThat(interval.events()).isEqualTo(60_000);
              assertThat(interval.complete()).isTrue();
            });
  }

  @Test
  void rangesAndIntervalsAreBounded() {
    assertThatThrownBy(() -> counts.count(Map.of(), from, to, Duration.ofSeconds(1)))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("500 intervals");
    assertThatThrownBy(() -> counts.count(Map.of(), to, from, Duration.ofHours(1)))
        .hasMessageContaining("to must come after from");
    assertThatThrownBy(
            () -> counts.count(Map.of(), from, from.plus(Duration.ofDays(400)), Duration.ofDays(1)))
        .hasMessageContaining("366 days");
    assertThatThrownBy(() -> count(Map.of("key", "k")))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("unknown condition");
    assertThatThrownBy(() -> count(Map.of("aggregate_id", "1")))
        .hasMessageContaining("aggregate_type");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}                                                  | _pkey
          {"event_type": "paid"}                              | _pkey
          {"tenant": "t42"}                                   | tenant_id_idx
          {"aggregate_type": "invoice", "aggregate_id": "42"} | aggregate_type_aggregate_id_id_idx
          """)
  void everyIntervalIsFoundByIndex(String filter, String index) throws Exception {
    database.fillLog(20_000);
    database.execute(
        """
        insert into postrider.attempt (message_id, finished_at, no, delivery, state)
        select id, now(), 1, 1, 1 from postrider.message;
        analyze postrider.message;
        analyze postrider.attempt
        """);
    String plan =
        database.plan(
            "select * from postrider.event_counts('"
                + filter
                + "', now() - interval '1 h', now() + interval '1 h', interval '10 min', 1000)");
    assertThat(plan)
        .contains(index)
        .contains("attempt_default_message_id_idx")
        .doesNotContain("Seq Scan on message", "Seq Scan on attempt", "Bitmap");
  }
}
