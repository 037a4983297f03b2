package dev.postrider.enqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.postrider.message.NewMessage;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Producers in transactions of other isolation levels. */
@Tag("EN-22")
@Timeout(60)
class IsolatedProducersTest {
  private static final int REPEATABLE_READ = Connection.TRANSACTION_REPEATABLE_READ;
  private static final int SERIALIZABLE = Connection.TRANSACTION_SERIALIZABLE;

  private final TestDatabase database = TestDatabase.create();
  private final Outbox outbox = new Outbox();

  /** The ways to enqueue. */
  enum Way {
    SQL {
      @Override
      void send(Outbox outbox, Connection connection, String key) throws SQLException {
        try (Statement statement = connection.createStatement()) {
          statement.execute("select postrider.enqueue('shop', 'orders', '{}', '" + key + "')");
        }
      }
    },
    QUICK {
      @Override
      void send(Outbox outbox, Connection connection, String key) throws SQLException {
        outbox.enqueue(connection, message(key));
      }
    },
    BATCH {
      @Override
      void send(Outbox outbox, Connection connection, String key) throws SQLException {
        outbox.enqueue(connection, List.of(message(key)));
      }
    };

    abstract void send(Outbox outbox, Connection connection, String key) throws SQLException;
  }

  private static NewMessage message(String key) {
    return NewMessage.to("shop", "orders").key(key).json("{}").build();
  }

  private Connection begin(int isolation) throws SQLException {
    Connection connection = database.transaction();
    connection.setTransactionIsolation(isolation);
    return connection;
  }

  /** From here on it sees nothing that others commit. */
  private Connection beginWithSnapshot(int isolation) throws SQLException {
    Connection connection = begin(isolation);
    try (Statement statement = connection.createStatement()) {
      statement.execute("select count(*) from pg_class");
    }
    return connection;
  }

  private void send(String key, int count) {
    database.execute(
        "select count(postrider.enqueue('shop', 'orders', '{}', key => '%s')) from generate_series(1, %d)"
            .formatted(key, count));
  }

  private List<Long> sequences(String key) {
    return database
        .column(
            "select sequence from postrider.message where ordering_key = '"
                + key
                + "' order by sequence")
        .stream()
        .map(Long::valueOf)
        .toList();
  }

  private static List<Long> upTo(long last) {
    return LongStream.rangeClosed(1, last).boxed().toList();
  }

  @ParameterizedTest
  @EnumSource
  void ofDifferentKeysDoNotConflict(Way way) throws Exception {
    for (int key = 0; key < 8; key++) {
      send("k" + key, 3);
    }
    database.execute("analyze postrider.ordering_key, postrider.message, postrider.queue");
    List<Connection> open = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      for (int key = 0; key < 8; key++) {
        Connection connection = begin(SERIALIZABLE);
        open.add(connection);
        way.send(outbox, connection, "k" + key);
      }
      if (round == 1) {
        Collections.reverse(open);
      }
      for (Connection connection : open) {
        connection.commit();
        connection.close();
      }
      open.clear();
    }
    for (int key = 0; key < 8; key++) {
      assertThat(sequences("k" + key)).isEqualTo(upTo(6));
    }
  }

  @ParameterizedTest
  @EnumSource
  void ofTheSameKeyFailUnlessTheySawEachOther(Way way) throws Exception {
    for (int isolation : List.of(REPEATABLE_READ, SERIALIZABLE)) {
      String key = "k" + isolation;
      send(key, 3);
      try (Connection late = beginWithSnapshot(isolation)) {
        send(key, 1);
        assertRefused(() -> way.send(outbox, late, key));
        late.rollback();
        way.send(outbox, late, key);
        late.commit();
      }
      assertThat(sequences(key)).isEqualTo(upTo(5));
    }
  }

  /** Rows that count a key's messages are replaced after 64: none may be taken for the newest. */
  @ParameterizedTest
  @CsvSource({
    "0, 1",
    "0, 63",
    "0, 64",
    "0, 200",
    "1, 62",
    "1, 63",
    "62, 1",
    "62, 2",
    "63, 1",
    "63, 100",
    "64, 1",
    "64, 63",
    "64, 64",
    "126, 1",
    "126, 2",
    "127, 1",
    "130, 200"
  })
  void noneOverlooksWhatOthersSentMeanwhile(int before, int meanwhile) throws Exception {
    for (Way way : Way.values()) {
      String key = "k" + way;
      send(key, before);
      try (Connection late = beginWithSnapshot(REPEATABLE_READ)) {
        send(key, meanwhile);
        assertRefused(() -> way.send(outbox, late, key));
        late.rollback();
        way.send(outbox, late, key);
        late.commit();
      }
      assertThat(sequences(key)).isEqualTo(upTo(before + meanwhile + 1));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {REPEATABLE_READ, SERIALIZABLE})
  void sequencesHaveNoHolesWhateverFails(int isolation) throws Exception {
    AtomicInteger failed = new AtomicInteger();
    List<Long> committed = Collections.synchronizedList(new ArrayList<>());
    List<CompletableFuture<Void>> producers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Random random = new Random(i);
      producers.add(Producer.async(() -> produce(isolation, random, committed, failed)));
    }
    for (CompletableFuture<Void> each : producers) {
      each.get();
    }
    assertThat(committed).hasSizeGreaterThan(300);
    assertThat(sequences("k")).isEqualTo(upTo(committed.size()));
    assertThat(failed.get()).as("some had to be repeated").isPositive();
  }

  private Void produce(int isolation, Random random, List<Long> committed, AtomicInteger failed)
      throws SQLException {
    try (Connection connection = begin(isolation)) {
      for (int done = 0; done < 25; ) {
        List<NewMessage> batch = Collections.nCopies(1 + random.nextInt(9), message("k"));
        try {
          if (random.nextBoolean()) {
            outbox.enqueue(connection, batch);
          } else {
            for (NewMessage each : batch) {
              outbox.enqueue(connection, each);
            }
          }
          connection.commit();
          batch.forEach(each -> committed.add(0L));
          done++;
        } catch (SQLException e) {
          connection.rollback();
          assertThat(e.getSQLState()).isEqualTo("40001");
          failed.incrementAndGet();
        }
      }
    }
    return null;
  }

  private interface Call {
    void run() throws SQLException;
  }

  private static void assertRefused(Call call) {
    assertThatThrownBy(call::run)
        .asInstanceOf(type(SQLException.class))
        .extracting(SQLException::getSQLState)
        .isEqualTo("40001");
  }
}
