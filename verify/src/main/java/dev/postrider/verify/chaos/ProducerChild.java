package dev.postrider.verify.chaos;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Enqueued;
import dev.postrider.verify.chaos.Traffic.Transaction;
import dev.postrider.verify.journal.Clock;
import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.Journal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A service that writes messages. It notes what it is about to do, and what became of it. A
 * transaction with dedupe keys is repeated until its commit is acknowledged, also after the death
 * of the process; any other is left in doubt. Arguments: directory, name.
 */
final class ProducerChild {
  private static final long AGAIN_NANOS = 50_000_000;

  private final Scene scene;
  private final Traffic traffic;
  private final Journal journal;
  private final DataSource dataSource;
  private final Outbox outbox = new Outbox();
  private final long nanosPerMessage;
  private @Nullable Connection connection;

  private ProducerChild(Scene scene, String name, Journal journal) {
    this.scene = scene;
    this.traffic = new Traffic(scene.seed(), name);
    this.journal = journal;
    this.dataSource = scene.dataSource(name);
    this.nanosPerMessage = 1_000_000_000L / scene.rate();
  }

  public static void main(String[] arguments) {
    Path directory = Path.of(arguments[0]);
    String name = arguments[1];
    Past past = Past.of(Journal.read(directory, name));
    try (Journal journal = Journal.open(directory, name)) {
      new ProducerChild(Scene.read(directory), name, journal).run(past);
    }
  }

  /** What an earlier process of the same name did. */
  private record Past(int last, boolean lastIsOpen) {
    static Past of(List<Entry> entries) {
      int last = -1;
      Set<String> ended = new HashSet<>();
      String lastName = "";
      for (Entry entry : entries) {
        if (entry instanceof Entry.Intent intent) {
          lastName = intent.transaction();
          last = Integer.parseInt(lastName.substring(lastName.lastIndexOf('-') + 1));
        } else if (entry instanceof Entry.Commit commit) {
          ended.add(commit.transaction());
        } else if (entry instanceof Entry.Rollback rollback) {
          ended.add(rollback.transaction());
        }
      }
      return new Past(last, last >= 0 && !ended.contains(lastName));
    }
  }

  private void run(Past past) {
    if (past.lastIsOpen()) {
      Transaction open = traffic.transaction(past.last(), Clock.micros());
      if (open.once()) {
        // Its journal may have been cut before the last intents.
        journal.append(open.intents());
        untilEnded(open);
      }
    }
    for (int number = past.last() + 1; scene.producing(); number++) {
      Transaction transaction = traffic.transaction(number, Clock.micros());
      journal.append(transaction.intents());
      untilEnded(transaction);
      LockSupport.parkNanos(nanosPerMessage * transaction.messages().size());
    }
  }

  private void untilEnded(Transaction transaction) {
    while (!tryOnce(transaction) && transaction.once()) {
      LockSupport.parkNanos(AGAIN_NANOS);
    }
  }

  private boolean tryOnce(Transaction transaction) {
    try {
      Connection open = connect();
      List<Enqueued> answers = enqueue(open, transaction);
      if (transaction.rollBack()) {
        open.rollback();
        journal.append(new Entry.Rollback(Clock.micros(), transaction.name()));
      } else {
        open.commit();
        journal.append(commits(transaction, answers));
      }
      return true;
    } catch (SQLException e) {
      disconnect();
      return false;
    }
  }

  private List<Enqueued> enqueue(Connection open, Transaction transaction) throws SQLException {
    if (transaction.messages().size() == 1) {
      return List.of(outbox.enqueue(open, transaction.messages().get(0)));
    }
    return outbox.enqueue(open, transaction.messages());
  }

  private static List<Entry> commits(Transaction transaction, List<Enqueued> answers) {
    long now = Clock.micros();
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      Enqueued answer = answers.get(i);
      Long sequence = answer.sequence();
      entries.add(
          new Entry.Commit(
              now,
              transaction.name(),
              transaction.intents().get(i).ref(),
              answer.id().toString(),
              sequence == null ? 0 : sequence));
    }
    return entries;
  }

  private Connection connect() throws SQLException {
    Connection open = connection;
    if (open == null) {
      open = dataSource.getConnection();
      open.setAutoCommit(false);
      connection = open;
    }
    return open;
  }

  private void disconnect() {
    Connection open = connection;
    connection = null;
    if (open != null) {
      try {
        open.abort(Runnable::run);
      } catch (SQLException e) {
        // It is gone either way.
      }
    }
    LockSupport.parkNanos(AGAIN_NANOS);
  }
}
