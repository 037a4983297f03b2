package dev.postrider.enqueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.NewMessage;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * At SERIALIZABLE the server locks whole pages of an index, so that neighbours may seem to conflict
 * where rows are added.
 */
@Tag("EN-22")
@Timeout(60)
class IsolatedNewKeysTest {
  private static final int KEYS = 5;

  private final TestDatabase database = TestDatabase.create();
  private final Outbox outbox = new Outbox();

  /** A new key, and a key whose row has counted 64 messages, beside keys that are known. */
  @ParameterizedTest
  @CsvSource({
    "0, 0, false", "0, 0, true", "0, 3, false", "0, 3, true",
    "63, 63, false", "63, 63, true", "63, 0, false", "63, 0, true"
  })
  void producersOfDifferentKeysDoNotConflict(int even, int odd, boolean batch) throws Exception {
    database.execute("select postrider.intern_route('shop', 'orders')");
    for (int key = 0; key < KEYS; key++) {
      database.execute(
          "select count(postrider.enqueue('shop', 'orders', '{}', key => 'k%d')) from generate_series(1, %d)"
              .formatted(key, key % 2 == 0 ? even : odd));
    }
    List<Connection> open = new ArrayList<>();
    for (int key = 0; key < KEYS; key++) {
      Connection connection = database.transaction();
      connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      open.add(connection);
      send(connection, "k" + key, batch);
    }
    Collections.reverse(open);
    for (Connection connection : open) {
      connection.commit();
      connection.close();
    }
    for (int key = 0; key < KEYS; key++) {
      assertThat(sequences("k" + key)).isEqualTo(1 + (key % 2 == 0 ? even : odd));
    }
  }

  /** As many transactions as a row counts at this level, and a few more. */
  @ParameterizedTest
  @CsvSource({"false", "true"})
  void aKeysRowCountsOnAndIsReplacedInTheEnd(boolean batch) throws Exception {
    try (Connection connection = database.transaction()) {
      connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      for (int i = 0; i < 1100; i++) {
        send(connection, "k", batch);
        connection.commit();
        if (i == 1000) {
          assertThat(generations()).containsExactly("0");
        }
      }
    }
    assertThat(generations()).containsExactly("0", "16");
    database.execute("select postrider.enqueue('shop', 'orders', '{}', key => 'k')");
    assertThat(sequences("k")).isEqualTo(1101);
  }

  private void send(Connection connection, String key, boolean batch) throws SQLException {
    NewMessage message = NewMessage.to("shop", "orders").key(key).json("{}").build();
    if (batch) {
      outbox.enqueue(connection, List.of(message));
    } else {
      outbox.enqueue(connection, message);
    }
  }

  private List<String> generations() {
    return database.column("select generation from postrider.ordering_key order by 1");
  }

  /** How many messages the key has; they are numbered from 1 without a gap. */
  private long sequences(String key) {
    String of = " from postrider.message where ordering_key = '" + key + "'";
    long count = database.count("select count(*)" + of);
    assertThat(database.count("select min(sequence)" + of)).isEqualTo(1);
    assertThat(database.count("select max(sequence)" + of)).isEqualTo(count);
    assertThat(database.count("select count(distinct sequence)" + of)).isEqualTo(count);
    return count;
  }
}
