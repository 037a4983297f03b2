package dev.postrider.enqueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testing.Pages;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A transaction with many messages: the last ones cost no more than the first. */
@Tag("EN-21")
@Timeout(60)
class LongTransactionTest {
  private static final int MANY = 3000;

  private final TestDatabase database = TestDatabase.create();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "postrider.enqueue('shop', 'orders', '{}', key => 'k')",
        "postrider.try_enqueue_keyed('shop', 'orders', '{}', 'k')",
        "postrider.try_enqueue_once('shop', 'orders', '{}', 'k', gen_random_uuid()::text)",
        "count(*) from postrider.enqueue_batch('[{\"namespace\": \"shop\", \"topic\": \"orders\","
            + " \"payload\": {}, \"key\": \"k\"}]')"
      })
  void eachMessageOfAKeyCostsTheSame(String call) throws Exception {
    database.execute("select postrider.intern_route('shop', 'orders')");
    try (Connection connection = database.transaction()) {
      repeat(connection, call, 100);
      long early = most(connection, call);
      repeat(connection, call, MANY);
      assertThat(most(connection, call)).isLessThan(2 * early + 20);
      connection.commit();
    }
    assertThat(database.count("select max(sequence) - count(*) from postrider.message"))
        .as("no sequence is missing")
        .isZero();
  }

  private static void repeat(Connection connection, String call, int times) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (int i = 0; i < times; i++) {
        statement.addBatch("do $$ begin perform " + call + "; end $$");
      }
      statement.executeBatch();
    }
  }

  /** Of several calls: every 64th costs a little more. */
  private static long most(Connection connection, String call) throws SQLException {
    long most = 0;
    for (int i = 0; i < 70; i++) {
      most = Math.max(most, Pages.touched(connection, "select " + call));
    }
    return most;
  }
}
