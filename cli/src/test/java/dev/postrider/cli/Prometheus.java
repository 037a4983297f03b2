package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.cli.Executable.Running;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A real Prometheus with the rules that ship, at a quicker pace. */
record Prometheus(Running process, String url) implements AutoCloseable {
  private static final Path RULES = Path.of("../monitoring/alerts.yaml");
  private static final Pattern LISTENS = Pattern.compile("\"Listening on\" address=(\\S+)");

  /** Scrapes these every two seconds; windows are 20 seconds, and alerts wait for ten. */
  static Prometheus start(Path folder, String token, List<String> targets) throws Exception {
    Files.writeString(
        folder.resolve("alerts.yaml"),
        Files.readString(RULES)
            .replaceAll("for: \\d+m", "for: 10s")
            .replaceAll("\\[\\d+m]", "[20s]"));
    Files.writeString(
        folder.resolve("prometheus.yml"),
        """
        global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 2s}
        rule_files: [alerts.yaml]
        scrape_configs:
          - job_name: postrider
            metrics_path: /v1/metrics
            authorization: {credentials: %s}
            static_configs: [{targets: %s}]
        """
            .formatted(token, targets));
    Running running;
    try {
      running =
          Executable.in(folder)
              .start(
                  List.of(
                      "prometheus",
                      "--config.file=prometheus.yml",
                      "--storage.tsdb.path=data",
                      "--web.listen-address=127.0.0.1:0"));
    } catch (UncheckedIOException e) {
      throw new AssertionError("Install Prometheus (Debian: apt-get install prometheus)", e);
    }
    await().until(() -> LISTENS.matcher(running.err()).find() || !running.process().isAlive());
    Matcher found = LISTENS.matcher(running.err());
    assertThat(found.find()).as(running.err()).isTrue();
    return new Prometheus(running, "http://" + found.group(1));
  }

  private Map<?, ?> data(String path) throws Exception {
    String answer = Http.get(url + path, "none");
    assertThat(answer).startsWith("200 ");
    return (Map<?, ?>) ((Map<?, ?>) Executable.parsed(answer.substring(4))).get("data");
  }

  /** How many series an expression has. */
  int count(String expression) throws Exception {
    String query = URLEncoder.encode(expression, StandardCharsets.UTF_8);
    return ((List<?>) data("/api/v1/query?query=" + query).get("result")).size();
  }

  /** Alerts as "name state". */
  TreeSet<String> alerts() throws Exception {
    TreeSet<String> alerts = new TreeSet<>();
    for (Object each : (List<?>) data("/api/v1/alerts").get("alerts")) {
      Map<?, ?> alert = (Map<?, ?>) each;
      alerts.add(((Map<?, ?>) alert.get("labels")).get("alertname") + " " + alert.get("state"));
    }
    return alerts;
  }

  @Override
  public void close() {
    process.close();
  }
}
