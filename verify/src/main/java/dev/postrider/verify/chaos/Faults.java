package dev.postrider.verify.chaos;

import dev.postrider.verify.journal.Clock;
import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.FaultKind;
import dev.postrider.verify.journal.Journal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Does what a schedule says, and notes from when to when. Brokers start and relays stand still in
 * the background, so that other faults hit meanwhile. Used by one thread.
 */
final class Faults implements AutoCloseable {
  private static final Duration CONNECTED_WITHIN = Duration.ofSeconds(30);

  private final Servers servers;
  private final List<Child> relays;
  private final List<Child> producers;
  private final Child consumer;
  private final Journal journal;
  private final ExecutorService background = Executors.newCachedThreadPool();
  private final List<Future<?>> running = new ArrayList<>();
  private volatile boolean rabbitAway;
  private volatile boolean kafkaAway;

  Faults(Stage stage, Journal journal) {
    this.servers = stage.servers();
    this.relays = stage.relays();
    this.producers = stage.producers();
    this.consumer = stage.consumer();
    this.journal = journal;
  }

  void run(Step step) {
    LockSupport.parkNanos(step.pauseMs() * 1_000_000L);
    Child relay = relays.get(step.victim() % relays.size());
    Child producer = producers.get(step.victim() % producers.size());
    switch (step.kind()) {
      case RELAY_KILL -> kill(step.kind(), relay, relay.name());
      case PRODUCER_KILL -> kill(step.kind(), producer, producer.name());
      case CONSUMER_KILL -> kill(step.kind(), consumer, behindBrokers());
      case RELAY_FREEZE -> freeze(relay, step.lengthMs());
      case BACKEND_END -> endBackend(relay);
      case BACKEND_KILL -> killBackend(relay);
      case DATABASE_KILL -> killDatabase(step.lengthMs());
      case RABBIT_KILL -> killRabbit(step.lengthMs());
      case KAFKA_KILL -> killKafka(step.lengthMs());
    }
  }

  private static String behindBrokers() {
    return String.join(",", Scene.RABBIT, Scene.COPY_RABBIT, Scene.KAFKA);
  }

  private void kill(FaultKind kind, Child child, String victim) {
    long from = Clock.micros();
    child.kill();
    note(from, Clock.micros(), kind, victim);
    child.start();
  }

  private void freeze(Child relay, int millis) {
    if (relay.isFrozen()) {
      return;
    }
    long from = Clock.micros();
    relay.freeze();
    later(
        () -> {
          LockSupport.parkNanos(millis * 1_000_000L);
          relay.thaw();
          note(from, Clock.micros(), FaultKind.RELAY_FREEZE, relay.name());
        });
  }

  private void endBackend(Child relay) {
    Long pid = backend(relay);
    if (pid != null) {
      long from = Clock.micros();
      Signals.send("-TERM", pid);
      note(from, Clock.micros(), FaultKind.BACKEND_END, relay.name());
    }
  }

  private void killBackend(Child relay) {
    Long pid = backend(relay);
    if (pid == null) {
      return;
    }
    long from = Clock.micros();
    Signals.send("-KILL", pid);
    // The server ends everybody else first.
    LockSupport.parkNanos(200_000_000);
    servers.untilDatabaseAnswers();
    note(from, Clock.micros(), FaultKind.BACKEND_KILL, "database");
  }

  /** A server process that works for the relay, which may have been started just now. */
  private @Nullable Long backend(Child relay) {
    Until.held(CONNECTED_WITHIN, () -> !backends(relay.name()).isEmpty());
    return backends(relay.name()).stream().findFirst().orElse(null);
  }

  private List<Long> backends(String name) {
    List<Long> pids = new ArrayList<>();
    try (Connection connection = servers.database().dataSource().getConnection();
        PreparedStatement select =
            connection.prepareStatement(
                "select pid from pg_stat_activity where application_name = ? order by pid")) {
      select.setString(1, name);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          pids.add(rows.getLong(1));
        }
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return pids;
  }

  private void killDatabase(int millis) {
    long from = Clock.micros();
    servers.postgres().kill();
    LockSupport.parkNanos(millis * 1_000_000L);
    servers.postgres().restart();
    servers.untilDatabaseAnswers();
    note(from, Clock.micros(), FaultKind.DATABASE_KILL, "database");
  }

  private void killRabbit(int millis) {
    if (rabbitAway) {
      return;
    }
    rabbitAway = true;
    long from = Clock.micros();
    later(
        () -> {
          servers.rabbit().kill();
          LockSupport.parkNanos(millis * 1_000_000L);
          servers.restartRabbit();
          note(from, Clock.micros(), FaultKind.RABBIT_KILL, Scene.RABBIT + "," + Scene.COPY_RABBIT);
          rabbitAway = false;
        });
  }

  private void killKafka(int millis) {
    if (kafkaAway) {
      return;
    }
    kafkaAway = true;
    long from = Clock.micros();
    later(
        () -> {
          servers.kafka().kill();
          LockSupport.parkNanos(millis * 1_000_000L);
          servers.restartKafka();
          note(from, Clock.micros(), FaultKind.KAFKA_KILL, Scene.KAFKA);
          kafkaAway = false;
        });
  }

  private void later(Runnable work) {
    running.add(background.submit(work));
  }

  private void note(long from, long until, FaultKind kind, String victim) {
    journal.append(new Entry.Fault(from, until, kind, victim));
  }

  /** Returns when everything runs again. */
  void untilOver() throws InterruptedException {
    for (Future<?> future : running) {
      try {
        future.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException(e.getCause());
      }
    }
    running.clear();
  }

  @Override
  public void close() {
    background.shutdownNow();
  }
}
