package dev.postrider.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.RefusedException;
import dev.postrider.message.MessageState;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MessageSearchTest {
  private final TestDatabase database = TestDatabase.create();
  private final Courier courier = new Courier(database);
  private final Messages messages = new Messages(database.dataSource(), Schema.DEFAULT);

  private List<UUID> all(MessageFilter filter, int limit) throws Exception {
    List<UUID> found = new ArrayList<>();
    @Nullable UUID next = null;
    do {
      MessagePage page = messages.search(filter, next, limit);
      page.items().forEach(item -> found.add(item.id()));
      assertThat(page.items().size()).isLessThanOrEqualTo(limit);
      next = page.next();
    } while (next != null);
    return found;
  }

  @Test
  void pagesByEachCondition() throws Exception {
    UUID a = courier.enqueue("'shop', 'orders', key => 'k', tenant => 't'");
    UUID b = courier.enqueue("'shop', 'bills', aggregate_type => 'bill', aggregate_id => '1'");
    UUID c = courier.enqueue("'shop', 'orders', key => 'k', tenant => 't', event_type => 'paid'");
    UUID d = courier.enqueue("'hr', 'orders', key => 'k', tenant => 'u'");
    courier.deliver();
    MessageFilter shop = MessageFilter.ALL.with("namespace", "shop");

    for (int limit : new int[] {1, 2, 100}) {
      assertThat(all(MessageFilter.ALL, limit)).containsExactly(d, c, b, a);
      assertThat(all(shop.with("topic", "orders"), limit)).containsExactly(c, a);
      assertThat(all(shop.with("key", "k"), limit)).containsExactly(c, a);
      assertThat(all(shop.with("key", "none"), limit)).isEmpty();
      assertThat(all(MessageFilter.ALL.with("tenant", "t"), limit)).containsExactly(c, a);
      assertThat(all(MessageFilter.ALL.with("event_type", "paid"), limit)).containsExactly(c);
      assertThat(
              all(
                  MessageFilter.ALL.with("aggregate_type", "bill").with("aggregate_id", "1"),
                  limit))
          .containsExactly(b);
      assertThat(all(MessageFilter.ALL.with("from", "2100-01-01T00:00:00Z"), limit)).isEmpty();
      assertThat(all(MessageFilter.ALL.with("to", "2000-01-01T00:00:00Z"), limit)).isEmpty();
    }
    assertThat(messages.search(MessageFilter.ALL, null, 1).items().get(0).state())
        .isEqualTo(MessageState.DELIVERED);
  }

  @Test
  void aRareConditionComesBackWithAPlaceToGoOnFrom() throws Exception {
    database.execute("select postrider.enqueue('shop', 'rare', '{}')");
    database.fillLog(120_000);
    MessageFilter rare = MessageFilter.ALL.with("namespace", "shop").with("topic", "rare");
    MessagePage first = messages.search(rare, null, 10);
    assertThat(first.items()).isEmpty();
    assertThat(first.next()).isNotNull();
    MessagePage second = messages.search(rare, first.next(), 10);
    assertThat(second.items()).hasSize(1);
    assertThat(second.next()).isNull();
  }

  @Test
  void conditionsThatCannotBeMeantAreRefused() {
    assertThatThrownBy(() -> MessageFilter.ALL.with("topik", "x"))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("unknown condition 'topik'");
    assertThatThrownBy(() -> all(MessageFilter.ALL.with("key", "k"), 1))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("namespace");
    assertThatThrownBy(() -> all(MessageFilter.ALL.with("aggregate_id", "1"), 1))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("aggregate_type");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}                                                  | _pkey
          {"tenant": "t42"}                                   | tenant_id_idx
          {"aggregate_type": "invoice", "aggregate_id": "42"} | aggregate_type_aggregate_id_id_idx
          {"namespace": "shop", "key": "k"}                   | key_id_sequence_idx
          {"namespace": "shop", "topic": "orders"}            | _pkey
          """)
  @Tag("OP-1")
  void everyPageIsFoundByIndex(String filter, String index) throws Exception {
    database.execute("select postrider.enqueue('shop', 'orders', '{}', 'k')");
    database.fillLog(20_000);
    database.execute("analyze postrider.message");
    String plan =
        database.plan("select * from postrider.message_scan('" + filter + "', 100, null)");
    assertThat(plan).contains(index).doesNotContain("Seq Scan on message", "Bitmap");
  }
}
