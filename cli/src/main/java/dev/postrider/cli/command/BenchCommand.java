package dev.postrider.cli.command;

import dev.postrider.cli.bench.Figures;
import dev.postrider.cli.bench.Measurement;
import dev.postrider.cli.bench.ScratchSchema;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Progress;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.embedded.EmbeddedServer;
import java.time.Duration;
import java.util.Locale;
import javax.sql.DataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures a database. */
@Command(
    name = "bench",
    description = {
      "Measure enqueue, drain and latency. Uses the configured database, else the one of a running"
          + " ./postrider up, else a temporary one.",
      "Writes to a separate schema and drops it afterwards. It takes some seconds and loads the"
          + " database meanwhile."
    },
    footer = {"  ./postrider bench", "  ./postrider bench --messages 50000 --payload-bytes 1000"})
final class BenchCommand extends PostriderCommand {
  private static final int MESSAGES_MAX = 200_000;
  private static final int BYTES_MAX = 64 << 10;

  @Option(
      names = "--messages",
      paramLabel = "N",
      description = "Number of messages, 100 to 200000; 10000 by default.")
  int messages = 10_000;

  @Option(
      names = "--payload-bytes",
      paramLabel = "N",
      description = "Payload size, 2 to 65536; 300 by default.")
  int payloadBytes = 300;

  @Override
  int run(Context context) throws Exception {
    if (messages < 100 || messages > MESSAGES_MAX) {
      throw usage("--messages: expected 100 to " + MESSAGES_MAX + ", got " + messages);
    } else if (payloadBytes < 2 || payloadBytes > BYTES_MAX) {
      throw usage("--payload-bytes: expected 2 to " + BYTES_MAX + ", got " + payloadBytes);
    }
    StopSignal stop = StopSignal.install(Duration.ofSeconds(60));
    if (context.hasDatabase()) {
      return measure(context, context.dataSource(), context.shownUrl().orElse(""), stop);
    }
    screen().note("no database is configured: starting one for the measurement");
    try (EmbeddedServer server = EmbeddedServer.builder().closeAtExit(false).start()) {
      DataSource own =
          Connections.to(server.jdbcUrl(), context.database(), "postrider", Duration.ofSeconds(90));
      return measure(context, own, "a PostgreSQL of its own, gone now", stop);
    }
  }

  private int measure(Context context, DataSource dataSource, String where, StopSignal stop)
      throws Exception {
    Progress progress = new Progress(screen(), "steps", Measurement.steps(messages));
    try (ScratchSchema scratch = ScratchSchema.of(dataSource)) {
      screen().note("measuring in the schema " + scratch.schema().name() + ", dropped afterwards");
      Figures figures =
          new Measurement(
                  dataSource,
                  scratch,
                  payloadBytes,
                  done -> {
                    progress.at(done);
                    return !stop.isAsked();
                  })
              .run(messages);
      progress.done();
      show(context, figures, where);
      return ExitCode.OK;
    } catch (Measurement.StoppedException e) {
      progress.done();
      screen().note("stopped; what was written is dropped");
      return ExitCode.TROUBLE;
    }
  }

  private void show(Context context, Figures figures, String where) {
    if (context.json()) {
      screen().json(json(figures, where).map());
      return;
    }
    Table table = new Table("measured", "", "ratio");
    table.row("commits without a message", rate(figures.commits()), null);
    table.row(
        "commits with one each",
        rate(figures.enqueues()),
        ratio(figures.kept()) + " of those without");
    table.row("messages written, 100 a commit", rate(figures.batched()), null);
    table.row(
        "messages carried by one relay",
        rate(figures.drained()),
        ratio(figures.headroom()) + " of those written");
    table.row("commit to destination, median", millis(figures, 50), null);
    table.row("commit to destination, 99 of 100", millis(figures, 99), null);
    screen().table(table);
    screen()
        .note(
            "%s of %s bytes each were written and dropped again; database: %s"
                .formatted(
                    Words.count(figures.messages(), "message"), Words.count(payloadBytes), where));
  }

  private Fields json(Figures figures, String where) {
    return new Fields()
        .with("commits_per_second", Math.round(figures.commits()))
        .with("enqueues_per_second", Math.round(figures.enqueues()))
        .with("enqueues_to_commits", rounded(figures.kept()))
        .with("batched_per_second", Math.round(figures.batched()))
        .with("drained_per_second", Math.round(figures.drained()))
        .with("drained_to_batched", rounded(figures.headroom()))
        .with("latency_median_ms", milliseconds(figures, 50))
        .with("latency_p99_ms", milliseconds(figures, 99))
        .with("messages", figures.messages())
        .with("payload_bytes", payloadBytes)
        .with("database", where);
  }

  private static String rate(double perSecond) {
    return Words.count(Math.round(perSecond)) + "/s";
  }

  private static String ratio(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private static double rounded(double value) {
    return Math.round(value * 100) / 100.0;
  }

  private static double milliseconds(Figures figures, int percent) {
    return Math.round(figures.latencies().percentile(percent).toNanos() / 1e4) / 100.0;
  }

  private static String millis(Figures figures, int percent) {
    return String.format(Locale.ROOT, "%.1f ms", milliseconds(figures, percent));
  }
}
