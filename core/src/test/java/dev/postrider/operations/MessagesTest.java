package dev.postrider.operations;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.MessageState;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MessagesTest {
  private final TestDatabase database = TestDatabase.create();
  private final Courier courier = new Courier(database);
  private final Messages messages = new Messages(database.dataSource(), Schema.DEFAULT);

  @Test
  @Tag("HE-9")
  void tracesAnAggregateInOrderByPages() throws Exception {
    List<UUID> ids = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ids.add(courier.enqueue("'hr', 'events', aggregate_type => 'invoice', aggregate_id => '7'"));
      courier.enqueue("'hr', 'events', aggregate_type => 'invoice', aggregate_id => '8'");
    }
    courier.deliver();
    ids.add(courier.enqueue("'hr', 'other', aggregate_type => 'invoice', aggregate_id => '7'"));

    List<MessageStatus> first = messages.ofAggregate("invoice", "7", null, 3);
    List<MessageStatus> second = messages.ofAggregate("invoice", "7", first.get(2).id(), 3);

    assertThat(first).extracting(MessageStatus::id).isEqualTo(ids.subList(0, 3));
    assertThat(second).extracting(MessageStatus::id).isEqualTo(ids.subList(3, 5));
    assertThat(second)
        .extracting(MessageStatus::state)
        .containsExactly(MessageState.DELIVERED, MessageState.PENDING);
  }

  @Test
  @Tag("HE-9")
  void anAggregateIsFoundByIndexAmongMany() {
    database.execute(
        """
        insert into postrider.message (id, created_at, route, aggregate_type, aggregate_id, payload)
        select postrider.new_id(), now(), 1, 'invoice', i % 5000, '' from generate_series(1, 50000) i
        """);
    database.execute(
        """
        insert into postrider.attempt (message_id, finished_at, no, delivery, state)
        select id, now(), 1, 1, 1 from postrider.message
        """);
    database.execute("analyze postrider.message, postrider.attempt");

    String plan =
        String.join(
            "\n",
            database.column(
                "explain (analyze, buffers off, costs off) "
                    + Messages.BY_AGGREGATE
                        .replaceFirst("\\?", "'invoice'")
                        .replaceFirst("\\?", "'42'")
                        .replaceFirst("\\?", "'00000000-0000-0000-0000-000000000000'")
                        .replaceFirst("\\?", "100")));

    assertThat(plan)
        .contains("aggregate_type_aggregate_id_id_idx")
        .doesNotContain("Seq Scan on message", "Seq Scan on attempt", "Seq Scan on queue");
  }

  @Test
  @Tag("OP-2")
  void neighboursAreReadWithoutTheRestOfTheLog() {
    database.execute(
        "select postrider.enqueue('shop', 'orders', '{}', key => 'k' || i % 10)"
            + " from generate_series(1, 5000) i");
    database.execute(
        """
        insert into postrider.attempt (message_id, finished_at, no, delivery, state)
        select id, now(), 1, 1, 1 from postrider.message
        """);
    database.execute("analyze");
    List<String> plan =
        database.column(
            "explain (analyze, buffers off, costs off, timing off) "
                + Messages.NEIGHBOURS
                    .replaceFirst("\\?", "(select id from postrider.message limit 1)")
                    .replace("?", "5"));
    Pattern scan = Pattern.compile("on message_.*rows=(\\d+)[.\\d]* loops=(\\d+)\\)");
    long read =
        plan.stream()
            .map(scan::matcher)
            .filter(Matcher::find)
            .mapToLong(found -> Long.parseLong(found.group(1)) * Long.parseLong(found.group(2)))
            .sum();
    assertThat(read).as(String.join("\n", plan)).isBetween(5L, 500L);
  }
}
