package dev.postrider.verify.chaos;

import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.schema.Schema;
import dev.postrider.verify.check.Checker;
import dev.postrider.verify.check.History;
import dev.postrider.verify.check.Report;
import dev.postrider.verify.journal.Clock;
import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.Journal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** The servers and child processes of a run. Used by one thread. */
final class Stage implements AutoCloseable {
  private static final int RELAYS = 3;
  private static final int PRODUCERS = 2;

  private final Settings settings;
  private final Consumer<String> log;
  private final Servers servers;
  private final Scene scene;
  private final List<Child> relays;
  private final List<Child> producers;
  private final Child consumer;

  private Stage(Settings settings, Consumer<String> log, Servers servers) {
    this.settings = settings;
    this.log = log;
    this.servers = servers;
    this.scene =
        new Scene(
            settings.directory(),
            settings.seed(),
            Math.max(1, settings.rate() / PRODUCERS),
            servers.postgres().jdbcUrl(),
            servers.rabbit().uri(),
            servers.kafka().address());
    this.relays = children("relay", RELAYS, RelayChild.class);
    this.producers = children("producer", PRODUCERS, ProducerChild.class);
    this.consumer = new Child(scene.directory(), ConsumerChild.NAME, ConsumerChild.class);
  }

  /** Starts the servers, and no child yet. */
  static Stage open(Settings settings, Consumer<String> log) throws Exception {
    log.accept("starting PostgreSQL, RabbitMQ and Kafka");
    Stage stage = new Stage(settings, log, Servers.start());
    stage.scene.write();
    return stage;
  }

  private List<Child> children(String name, int count, Class<?> main) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(i -> new Child(settings.directory(), name + i, main))
        .toList();
  }

  Servers servers() {
    return servers;
  }

  Scene scene() {
    return scene;
  }

  List<Child> relays() {
    return relays;
  }

  List<Child> producers() {
    return producers;
  }

  Child consumer() {
    return consumer;
  }

  /**
   * No more faults: producers stop, what failed on purpose is mended, and everything must arrive.
   * Relays must be running.
   */
  Report settle() throws Exception {
    log.accept("the last messages");
    scene.stopProducing();
    for (Child producer : producers) {
      if (!producer.awaitEnd()) {
        throw new IllegalStateException(producer.name() + " does not end");
      }
    }
    scene.mend();
    servers.mend();
    if (!Until.held(settings.patience(), this::isOver)) {
      log.accept("not everything arrived within " + settings.patience());
    }
    relays.forEach(Child::end);
    consumer.kill();
    noteEffects();
    return Checker.check(History.read(settings.directory()), settings.bounds());
  }

  /** The journals are read only when nothing is queued any more. */
  private boolean isOver() {
    try {
      new DeadLetters(servers.database().dataSource(), Schema.DEFAULT)
          .requeue("chaos", DeadLetterFilter.all(), count -> true);
      TimeUnit.MILLISECONDS.sleep(200);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
    if (servers.database().count("select count(*) from postrider.queue") > 0) {
      return false;
    }
    History history = History.read(scene.directory());
    long effects = servers.database().count("select count(distinct (sink, ref)) from effect");
    return Checker.complete(history)
        && effects
            >= history.places(Scene.RABBIT)
                + history.places(Scene.COPY_RABBIT)
                + history.places(Scene.KAFKA);
  }

  private void noteEffects() throws SQLException {
    try (Journal journal = Journal.open(settings.directory(), "effects");
        Connection connection = servers.database().dataSource().getConnection();
        PreparedStatement select = connection.prepareStatement("select sink, ref from effect")) {
      connection.setAutoCommit(false);
      select.setFetchSize(10_000);
      List<Entry> entries = new ArrayList<>();
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          entries.add(new Entry.Effect(Clock.micros(), rows.getString(1), rows.getString(2)));
        }
      }
      journal.append(entries);
    }
  }

  @Override
  public void close() {
    relays.forEach(Child::close);
    producers.forEach(Child::close);
    consumer.close();
    servers.close();
  }
}
