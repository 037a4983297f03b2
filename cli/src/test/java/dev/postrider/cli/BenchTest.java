package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.cli.Executable.Result;
import dev.postrider.cli.Executable.Running;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("OP-1")
class BenchTest {
  private static final String SCHEMAS =
      "select nspname from pg_namespace where nspname like 'postrider%'";

  @TempDir Path folder;

  @Test
  void itMeasuresAndLeavesNothingBehind() {
    Desk desk = Desk.bare(folder);
    Map<String, Object> json = desk.run("bench", "--messages", "500", "--json").json();
    assertThat(json).containsEntry("messages", 750).containsEntry("payload_bytes", 300);
    assertThat((Integer) json.get("drained_per_second")).isPositive();
    assertThat((Double) json.get("latency_p99_ms")).isPositive();
    assertThat((Double) json.get("enqueues_to_commits")).isBetween(0.0, 2.0);
    assertThat(desk.column(SCHEMAS)).isEmpty();
  }

  @Test
  void stoppedItLeavesNothingBehindEither() throws Exception {
    Desk desk = Desk.bare(folder);
    try (Running bench = desk.postrider.start("bench", "--messages", "200000")) {
      await().until(() -> !desk.column(SCHEMAS).isEmpty() || !bench.process().isAlive());
      Result end = bench.interrupt();
      assertThat(end.exitCode()).as(end.err()).isEqualTo(1);
      assertThat(end.err()).contains("stopped");
    }
    assertThat(desk.column(SCHEMAS)).isEmpty();
  }

  @Test
  void withoutADatabaseItBringsItsOwn() {
    Result result = Executable.in(folder).run("bench", "--messages", "100");
    assertThat(result.ok()).contains("commits with one each", "of those without", " ms");
    assertThat(result.err()).contains("starting one", "350 messages of 300 bytes");
  }
}
