package dev.postrider.enqueue;

import static dev.postrider.enqueue.Producer.order;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.DatabaseError;
import dev.postrider.error.NoTransactionException;
import dev.postrider.message.Enqueued;
import dev.postrider.message.InvalidMessageException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private final Producer producer = Producer.create();
  private final Outbox outbox = producer.outbox();

  @Test
  @Tag("EN-1")
  void aMessageCommitsWithTheBusinessWrite() throws Exception {
    producer.database().execute("create table purchase (id int)");
    Enqueued enqueued;
    try (Connection connection = producer.database().transaction()) {
      execute(connection, "insert into purchase values (1)");
      enqueued = outbox.enqueue(connection, order().build());
      assertThat(producer.messages()).isZero();
      connection.commit();
    }
    assertThat(producer.database().column("select id from postrider.message"))
        .containsExactly(enqueued.id().toString());
    assertThat(producer.database().value("select state from postrider.message_state"))
        .isEqualTo("pending");
    assertThat(producer.database().count("select count(*) from purchase")).isOne();
  }

  @Test
  void aDeadlockSaysWhatToDo() throws Exception {
    producer.commit(List.of(order().key("a").build(), order().key("b").build()));
    try (Connection one = producer.database().transaction();
        Connection two = producer.database().transaction()) {
      outbox.enqueue(one, order().key("a").build());
      outbox.enqueue(two, order().key("b").build());
      CompletableFuture<Optional<SQLException>> crossed =
          Producer.async(() -> failure(one, "b")); // waits until PostgreSQL ends one of the two
      Optional<SQLException> here = failure(two, "a");
      two.rollback();
      SQLException ended = Stream.of(here, crossed.get()).flatMap(Optional::stream).toList().get(0);
      assertThatThrownBy(
              () -> {
                throw ended;
              })
          .isInstanceOf(SQLTransactionRollbackException.class)
          .hasMessageContainingAll("Repeat this transaction", "in one call", "sorted order")
          .hasMessageContaining("deadlock detected");
      assertThat(ended.getSQLState()).isEqualTo("40P01");
      assertThat(DatabaseError.of(ended)).isEqualTo(DatabaseError.CONFLICT);
    }
  }

  private Optional<SQLException> failure(Connection connection, String key) {
    try {
      outbox.enqueue(connection, order().key(key).build());
      return Optional.empty();
    } catch (SQLException e) {
      return Optional.of(e);
    }
  }

  @Test
  @Tag("EN-1")
  void aRolledBackMessageNeverWas() throws Exception {
    try (Connection connection = producer.database().transaction()) {
      outbox.enqueue(connection, order().key("k").dedupeKey("d").build());
      outbox.enqueue(connection, List.of(order().key("k").dedupeKey("e").build()));
      connection.rollback();
    }
    assertThat(
            producer
                .database()
                .count(
                    """
                    select (select count(*) from postrider.message)
                         + (select count(*) from postrider.queue)
                         + (select count(*) from postrider.dedupe)
                         + (select count(*) from postrider.ordering_key)
                    """))
        .isZero();
  }

  @Test
  @Tag("EN-1")
  void aMessageEnqueuedAfterASavepointGoesWithIt() throws Exception {
    try (Connection connection = producer.database().transaction()) {
      outbox.enqueue(connection, order().build());
      Savepoint savepoint = connection.setSavepoint();
      outbox.enqueue(connection, order().build());
      connection.rollback(savepoint);
      connection.commit();
    }
    assertThat(producer.messages()).isOne();
    assertThat(producer.queued()).isOne();
  }

  @Test
  @Tag("EN-2")
  void autoCommitIsRefusedWithTheRemedyAndNothingIsWritten() throws Exception {
    try (Connection connection = producer.database().dataSource().getConnection()) {
      assertThatThrownBy(() -> outbox.enqueue(connection, order().build()))
          .isInstanceOf(NoTransactionException.class)
          .hasMessageContaining("setAutoCommit(false)")
          .hasMessageContaining("@Transactional");
      assertThatThrownBy(() -> outbox.enqueue(connection, List.of(order().build())))
          .isInstanceOf(NoTransactionException.class);
      assertThatThrownBy(() -> outbox.enqueue(connection, List.of()))
          .isInstanceOf(NoTransactionException.class);
    }
    assertThat(producer.messages()).isZero();
    assertThat(producer.queued()).isZero();
  }

  @Test
  @Tag("EN-4")
  void aCallerCanGoOnAfterARefusalFromItsOwnSavepoint() throws Exception {
    try (Connection connection = producer.database().transaction()) {
      outbox.enqueue(connection, order().build());
      Savepoint savepoint = connection.setSavepoint();
      assertThatThrownBy(() -> outbox.enqueue(connection, order().json("{").build()))
          .isInstanceOf(InvalidMessageException.class);
      connection.rollback(savepoint);
      outbox.enqueue(connection, order().build());
      connection.commit();
    }
    assertThat(producer.messages()).isEqualTo(2);
  }

  @Test
  @Tag("EN-1")
  void aClosedConnectionGivesTheDriversError() throws Exception {
    Connection connection = producer.database().transaction();
    connection.close();
    assertThatThrownBy(() -> outbox.enqueue(connection, order().build()))
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08003"));
  }

  @Test
  @Tag("EN-1")
  void aBrokenConnectionLosesNothingThatWasCommitted() throws Exception {
    producer.commit(order().build());
    try (Connection connection = producer.database().transaction()) {
      outbox.enqueue(connection, order().build());
      producer
          .database()
          .execute(
              """
              select pg_terminate_backend(pid, 5000) from pg_stat_activity
               where datname = current_database() and state = 'idle in transaction'
              """);
      assertThatThrownBy(() -> outbox.enqueue(connection, order().build()))
          .isInstanceOfSatisfying(
              SQLException.class,
              e -> assertThat(DatabaseError.of(e)).isEqualTo(DatabaseError.TRANSIENT));
    }
    assertThat(producer.messages()).isOne();
    assertThat(producer.queued()).isOne();
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
