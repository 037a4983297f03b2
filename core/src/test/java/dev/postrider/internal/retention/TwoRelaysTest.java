package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.observe.RelayListener;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Relays that compete for the turn. */
@Tag("OP-8")
@Timeout(60)
class TwoRelaysTest {
  private static final int ROWS = 20_000;

  private final TestDatabase database = TestDatabase.create();
  private final AtomicLong removed = new AtomicLong();
  private final ConcurrentLinkedQueue<String> told = new ConcurrentLinkedQueue<>();

  private Retention relay(String name) {
    RelayListener listener =
        new RelayListener() {
          @Override
          public void retained(String task, long count, Duration took) {
            removed.addAndGet(count);
            told.add("done by " + name);
          }

          @Override
          public void retentionStopped(String task, long count, Duration took) {
            removed.addAndGet(count);
            told.add("stopped by " + name);
          }

          @Override
          public void retentionFailed(String task, Exception error) {
            told.add("failed: " + error.getMessage());
          }
        };
    return new Retention(
        database.dataSource(),
        Schema.DEFAULT,
        RetentionConfig.off()
            .withInterval(Duration.ofSeconds(1))
            .withPeriod(RetentionTask.DEDUPE_KEYS, Duration.ofDays(30)),
        name,
        listener);
  }

  private void fill() {
    database.execute(
        """
        insert into postrider.dedupe
        select 1, 'old' || i, postrider.id_floor(now() - interval '31 d') from generate_series(1, %d) i
        """
            .formatted(ROWS));
  }

  private long left() {
    return database.count("select count(*) from postrider.dedupe");
  }

  @Test
  void eachRowIsRemovedOnceAndEachRunHasOneRelay() throws Exception {
    fill();
    List<Future<?>> runs = new ArrayList<>();
    ExecutorService executor = Executors.newFixedThreadPool(4);
    try {
      for (String name : List.of("a", "b", "c", "d")) {
        runs.add(
            executor.submit(
                () -> {
                  relay(name).runDue();
                  return name;
                }));
      }
      for (Future<?> run : runs) {
        run.get();
      }
    } finally {
      executor.shutdownNow();
    }
    assertThat(left()).isZero();
    assertThat(removed).hasValue(ROWS);
    assertThat(told).hasSize(1).first().asString().startsWith("done by");
    assertThat(database.count("select removed from postrider.retention")).isEqualTo(ROWS);
  }

  /** A stopped relay is not done; the other one goes on where it was. */
  @Test
  void anotherRelayGoesOnWhereAStoppedOneWas() throws Exception {
    fill();
    Retention first = relay("first");
    Thread thread = new Thread(first);
    thread.start();
    await().until(() -> left() < ROWS);
    first.stop();
    thread.join();
    assertThat(left()).isPositive();
    assertThat(told).containsExactly("stopped by first");
    assertThat(database.value("select finished_at is null from postrider.retention"))
        .isEqualTo("t");

    Retention second = relay("second");
    await()
        .until(
            () -> {
              second.runDue();
              return left() == 0;
            });
    assertThat(told).contains("done by second");
    assertThat(removed).hasValue(ROWS);
  }
}
