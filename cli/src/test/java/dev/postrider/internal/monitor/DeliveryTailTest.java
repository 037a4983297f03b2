package dev.postrider.internal.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("OP-1")
class DeliveryTailTest {
  @AutoClose private final TestPostgres postgres = TestPostgres.start();

  /** Messages n1 to n2, each with an attempt. */
  private void deliver(int first, int last) {
    postgres.execute(
        """
        do $$ declare v_id uuid; begin
          for i in %d..%d loop
            select id into v_id from postrider.enqueue('a', 'b', i::text);
            insert into postrider.attempt (message_id, finished_at, no, delivery, state)
            values (v_id, clock_timestamp(), 1, 1, 1);
          end loop;
        end $$
        """
            .formatted(first, last));
  }

  private static List<Integer> numbers(List<Delivery> deliveries) {
    return deliveries.stream()
        .map(
            delivery ->
                Integer.valueOf(new String(delivery.message().payload(), StandardCharsets.UTF_8)))
        .toList();
  }

  private static List<Integer> range(int first, int last) {
    List<Integer> all = new ArrayList<>();
    for (int i = first; i <= last; i++) {
      all.add(i);
    }
    return all;
  }

  @Test
  void showsEachOnceAlsoWhenThePartitionChanges() throws Exception {
    deliver(1, 5); // into the default partition
    DeliveryTail tail = new DeliveryTail(true);
    try (Database.Session session = new Database(postgres.dataSource(), Schema.DEFAULT).open()) {
      assertThat(numbers(tail.next(session))).isEqualTo(range(1, 5));
      assertThat(tail.next(session)).isEmpty();
      deliver(6, 1500); // pages more, and more messages than are looked up at once
      assertThat(numbers(tail.next(session))).isEqualTo(range(6, 1500));
      deliver(1501, 1502);
      postgres.execute("select postrider.ensure_partitions(1)");
      deliver(1503, 1504);
      List<Integer> rest = new ArrayList<>(numbers(tail.next(session)));
      assertThat(rest).isEqualTo(range(1501, 1504));
      assertThat(tail.next(session)).isEmpty();
      assertThat(tail.passedOver()).isFalse();
    }
  }

  @Test
  void readsOnlyTheEndOfOnePartition() {
    postgres.execute("select postrider.ensure_partitions(2)");
    postgres.execute(
        """
        insert into postrider.attempt (message_id, finished_at, no, delivery, state)
        select gen_random_uuid(), now(), 1, 1, 1 from generate_series(1, 100000);
        analyze postrider.attempt
        """);
    String sql =
        DeliveryTail.ATTEMPTS
            .replaceFirst("\\?", "date_trunc('day', now(), 'UTC')")
            .replaceFirst("\\?", "date_trunc('day', now(), 'UTC') + interval '1 day'")
            .replaceFirst("\\?", "'(900,0)'");
    String plan = String.join("\n", postgres.column("explain (analyze, costs off) " + sql));
    assertThat(plan).contains("Tid Range Scan on attempt_2").doesNotContain("Seq Scan");
  }

  @Test
  void saysWhenItPassesSomeOver() throws Exception {
    DeliveryTail tail = new DeliveryTail(false);
    try (Database.Session session = new Database(postgres.dataSource(), Schema.DEFAULT).open()) {
      assertThat(tail.next(session)).isEmpty();
      postgres.execute(
          """
          insert into postrider.attempt (message_id, finished_at, no, delivery, state)
          select gen_random_uuid(), now(), 1, 1, 1 from generate_series(1, 100000)
          """);
      deliver(1, 1);
      assertThat(tail.next(session)).hasSize(1);
      assertThat(tail.passedOver()).isTrue();
      deliver(2, 2);
      assertThat(tail.next(session)).hasSize(1);
      assertThat(tail.passedOver()).isFalse();
    }
  }
}
