package dev.postrider.bench.peer.debezium;

import dev.postrider.bench.peer.Site;
import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.connect.source.SourceRecord;

/** The embedded engine with the outbox event router. Used by one thread. */
final class Engine implements AutoCloseable {
  private static final long START_SECONDS = 60;
  private static final String STREAMING =
      "select exists (select 1 from pg_replication_slots where slot_name = '%s' and active)"
          .formatted(DebeziumPeer.SLOT);
  private static final String STOPPED =
      "select not exists (select 1 from pg_replication_slots where slot_name = '%s' and active)"
          .formatted(DebeziumPeer.SLOT);

  private final Site site;
  private final DebeziumEngine<RecordChangeEvent<SourceRecord>> engine;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final CountDownLatch polling = new CountDownLatch(1);
  private boolean started;

  /** An engine must not be stopped before it polls. */
  private record Startup(CountDownLatch polling) implements DebeziumEngine.ConnectorCallback {
    @Override
    public void pollingStarted() {
      polling.countDown();
    }
  }

  Engine(Site site, Path offsets, Consumer<String> handler) {
    this.site = site;
    this.engine =
        DebeziumEngine.create(ChangeEventFormat.of(Connect.class))
            .using(settings(site, offsets))
            .using(new Startup(polling))
            .notifying((records, committer) -> handle(records, committer, handler))
            .build();
  }

  private static void handle(
      List<RecordChangeEvent<SourceRecord>> records,
      DebeziumEngine.RecordCommitter<RecordChangeEvent<SourceRecord>> committer,
      Consumer<String> handler)
      throws InterruptedException {
    for (RecordChangeEvent<SourceRecord> record : records) {
      if (record.record().value() instanceof String payload) {
        handler.accept(payload);
      }
      committer.markProcessed(record);
    }
    committer.markBatchFinished();
  }

  private static Properties settings(Site site, Path offsets) {
    URI database = URI.create(site.url().substring("jdbc:".length()));
    Properties settings = new Properties();
    settings.setProperty("name", "bench");
    settings.setProperty("connector.class", "io.debezium.connector.postgresql.PostgresConnector");
    settings.setProperty("database.hostname", database.getHost());
    settings.setProperty("database.port", Integer.toString(database.getPort()));
    settings.setProperty("database.dbname", database.getPath().substring(1));
    settings.setProperty("database.user", "postgres");
    settings.setProperty("database.password", "unused");
    settings.setProperty("topic.prefix", "bench");
    settings.setProperty("plugin.name", "pgoutput");
    settings.setProperty("slot.name", DebeziumPeer.SLOT);
    settings.setProperty("publication.name", "bench_outbox");
    settings.setProperty("publication.autocreate.mode", "disabled");
    settings.setProperty("table.include.list", "public.outbox_event");
    settings.setProperty("snapshot.mode", "no_data");
    settings.setProperty("tombstones.on.delete", "false");
    settings.setProperty("poll.interval.ms", "1");
    settings.setProperty("max.batch.size", "8192");
    settings.setProperty("max.queue.size", "32768");
    settings.setProperty("record.processing.threads", "2");
    settings.setProperty("record.processing.order", "ORDERED");
    settings.setProperty(
        "offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
    settings.setProperty("offset.storage.file.filename", offsets.toString());
    settings.setProperty("offset.flush.interval.ms", "1000");
    settings.setProperty("transforms", "outbox");
    settings.setProperty("transforms.outbox.type", "io.debezium.transforms.outbox.EventRouter");
    return settings;
  }

  /** Returns when changes are streamed. */
  void start() throws SQLException, InterruptedException {
    thread.execute(engine);
    started = true;
    if (!polling.await(START_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the engine does not poll after " + START_SECONDS + " s");
    }
    await(STREAMING, "the engine does not stream");
  }

  private void await(String condition, String otherwise) throws SQLException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!site.isTrue(condition)) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(otherwise + " after " + START_SECONDS + " s");
      }
      Thread.sleep(5);
    }
  }

  @Override
  public void close() throws IOException, SQLException, InterruptedException {
    if (started) {
      engine.close();
      await(STOPPED, "the engine still streams");
    }
    thread.shutdownNow();
  }
}
