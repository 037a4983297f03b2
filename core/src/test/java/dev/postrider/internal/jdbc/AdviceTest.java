package dev.postrider.internal.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.enqueue.Outbox;
import dev.postrider.lease.LeaseOptions;
import dev.postrider.lease.LeaseStore;
import dev.postrider.lease.StoreException;
import dev.postrider.message.NewMessage;
import dev.postrider.operations.Pauses;
import dev.postrider.schema.Roles;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.util.PSQLException;

/** Errors of the database that people must mend say how. */
class AdviceTest {
  private static final String MIGRATE =
      "Run new Migrations(new Schema(\"postrider\")).apply(dataSource), or: ./postrider migrate";

  private static void enqueue(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      new Outbox().enqueue(connection, NewMessage.to("shop", "orders").json("{}").build());
    }
  }

  private static SQLException enqueueFails(DataSource dataSource) {
    return catchThrowableOfType(SQLException.class, () -> enqueue(dataSource));
  }

  @Test
  void withoutASchemaEveryEntranceSaysToMigrate() {
    DataSource empty = TestDatabase.empty(TestDatabase.NEWEST).dataSource();
    SQLException enqueued = enqueueFails(empty);
    assertThat(enqueued.getMessage()).contains(MIGRATE);
    assertThat(enqueued.getCause()).isInstanceOf(PSQLException.class);
    assertThat(enqueued.getSQLState()).isEqualTo("3F000");
    LeaseStore store = new LeaseStore(empty, Schema.DEFAULT, "ann", LeaseOptions.DEFAULT);
    assertThat(catchThrowable(() -> store.claim("shop", 1, Duration.ofMinutes(1))))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining(MIGRATE);
    DeadLetters dead = new DeadLetters(empty, Schema.DEFAULT);
    assertThat(catchThrowable(() -> dead.list(DeadLetterFilter.all(), true, null, 1)))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining(MIGRATE);
  }

  @Test
  void aLoginWithoutARoleIsToldWhichGrantItNeeds() throws Exception {
    TestDatabase database = TestDatabase.create();
    database.execute("create role \"advice shop\" login password 'x'");
    PGSimpleDataSource shop = new PGSimpleDataSource();
    shop.setUrl(database.jdbcUrl());
    shop.setUser("advice shop");
    shop.setPassword("x");

    SQLException enqueued = enqueueFails(shop);
    assertThat(enqueued.getMessage()).contains("grant postrider_producer to \"advice shop\"");
    assertThat(enqueued.getSQLState()).isEqualTo("42501");
    LeaseStore store = new LeaseStore(shop, Schema.DEFAULT, "ann", LeaseOptions.DEFAULT);
    assertThat(catchThrowable(() -> store.claim("shop", 1, Duration.ofMinutes(1))))
        .hasMessageContaining("grant postrider_relay to LOGIN");
    Pauses pauses = new Pauses(shop, Schema.DEFAULT);
    assertThat(catchThrowable(() -> pauses.pause("ann", Pauses.Kind.TOPIC, "shop/orders")))
        .hasMessageContaining("grant postrider_operator to \"advice shop\"");

    try (Connection owner = database.dataSource().getConnection()) {
      new Roles(Schema.DEFAULT).apply(owner);
    }
    database.execute("grant postrider_producer to \"advice shop\"");
    enqueue(shop);
  }
}
