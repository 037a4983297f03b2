package dev.postrider.examples.memorysync;

import dev.postrider.examples.stage.Stage;
import dev.postrider.lease.FlushOutcome;
import dev.postrider.lease.LeaseOptions;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Backoff;
import dev.postrider.schema.Schema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Notes are written, workers bring them to a slow service that fails now and then. */
public final class Main {
  // Leases so short and batches so long that workers lose notes to each other, to be watched.
  private static final SyncWorker.Settings SETTINGS =
      new SyncWorker.Settings(
          8,
          Duration.ofSeconds(1),
          new Backoff(Duration.ofMillis(500), Duration.ofSeconds(4), 0.3),
          5);
  private static final String OPEN =
      "select count(*) from postrider.message_state"
          + " where namespace = 'memory' and state in ('pending', 'processing')";

  private final Stage stage;
  private final FlushCounts counts = new FlushCounts();
  private volatile boolean ending;

  private Main(Stage stage) {
    this.stage = stage;
  }

  public static void main(String[] arguments) throws Exception {
    Stage.run(Main.class, arguments, Map.of("workers", "3"), stage -> new Main(stage).play());
  }

  private void play() throws Exception {
    int workers = stage.options().number("workers", 1, 16);
    stage.say("%d workers bring notes to a slow memory service; Ctrl-C ends", workers);
    ExecutorService threads = Executors.newFixedThreadPool(workers);
    try (MemoryService service = new MemoryService(Main::slowly)) {
      List<Future<Void>> running =
          IntStream.range(0, workers).mapToObj(i -> threads.submit(worker(service, i))).toList();
      write();
      stage.say("no more notes; waiting for those that are on their way");
      boolean all = stage.untilNone(OPEN);
      ending = true;
      for (Future<Void> worker : running) {
        worker.get();
      }
      summary(service, all);
    } finally {
      threads.shutdownNow();
    }
  }

  private Callable<Void> worker(MemoryService service, int number) {
    String name = "worker-" + number + "-" + ProcessHandle.current().pid();
    LeaseStore store =
        new LeaseStore(
            stage.dataSource(), Schema.DEFAULT, name, LeaseOptions.DEFAULT.withListener(counts));
    MemoryClient client = new MemoryClient(service.url(), Duration.ofSeconds(5));
    SyncWorker worker = new SyncWorker(store, client, SETTINGS);
    return () -> {
      while (!ending) {
        if (worker.flush() == 0) {
          Thread.sleep(100);
        }
      }
      return null;
    };
  }

  /** Half a second or less; one request in eight fails, and an empty note is refused. */
  private static int slowly(String body) throws InterruptedException {
    Thread.sleep(ThreadLocalRandom.current().nextInt(50, 500));
    if (body.isBlank()) {
      return 422;
    }
    return ThreadLocalRandom.current().nextInt(8) == 0 ? 503 : 201;
  }

  /** Ten at a time, some with the same contents, now and then an empty one. */
  private void write() throws SQLException, InterruptedException {
    Notes notes = new Notes(stage.dataSource());
    for (int n = 1; stage.goesOn(Duration.ofMillis(n % 10 == 1 && n > 1 ? 1000 : 0)); n++) {
      String body = n % 25 == 0 ? " " : "We decided on plan " + n * 7 % 30 + ".";
      notes.save(n % 3 == 0 ? "personal" : "team", body);
      if (n % 10 == 0) {
        stage.say("notes %3d   waiting %3d   %s", n, stage.count(OPEN), outcomes());
      }
    }
  }

  private String outcomes() {
    return Arrays.stream(FlushOutcome.values())
        .filter(outcome -> counts.of(outcome) > 0)
        .map(outcome -> outcome.code().replace("outbox_flush_", "") + " " + counts.of(outcome))
        .collect(Collectors.joining("  "));
  }

  private void summary(MemoryService service, boolean all) throws SQLException {
    for (FlushOutcome outcome : FlushOutcome.values()) {
      stage.say("%-24s %4d", outcome.code(), counts.of(outcome));
    }
    stage.say(
        "%d notes: %d calls to the service, %d memories; %s",
        stage.count("select count(*) from logbook.note"),
        service.calls(),
        service.memories().size(),
        all ? "none is left" : "SOME ARE LEFT");
    stage.say(
        "recorded conflicts: %d",
        stage.count("select count(*) from postrider.attempt_history where state = 'CONFLICT'"));
  }
}
