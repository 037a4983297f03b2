package dev.postrider.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.observe.BacklogMeters;
import dev.postrider.observe.BacklogSampler;
import dev.postrider.observe.FlushMeters;
import dev.postrider.observe.MicrometerMetrics;
import dev.postrider.relay.Relay;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What alerts and dashboard ask for is what a running relay exports. */
@Tag("OP-4")
@Tag("PO-12")
@Tag("CH-9")
class ExportedMetricsTest {
  private static final Pattern SELECTOR = Pattern.compile("(outbox_\\w+)(?:\\{([^}]*)})?");
  private static final Pattern LABEL = Pattern.compile("(\\w+)(=~|=)\"([^\"]*)\"");
  private static final Pattern GROUPING = Pattern.compile("by \\(([^)]*)\\) \\((.*?outbox_\\w+)");

  /** Prometheus itself adds these when it scrapes. */
  private static final Set<String> OF_THE_SCRAPE = Set.of("job", "instance");

  private record Series(String name, Map<String, String> labels) {}

  private static String scrape = "";
  private static List<Series> exported;

  @BeforeAll
  static void scrapeARelay() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    MicrometerMetrics metrics = new MicrometerMetrics(registry);
    BacklogMeters backlog = new BacklogMeters(registry);
    new FlushMeters(registry).flushed("success", 1);
    try (TestPostgres database = TestPostgres.start();
        Relay relay =
            Relay.builder(database.dataSource())
                .listener(metrics)
                .destination("rail", HandlerDestination.inline(ExportedMetricsTest::answer))
                .route("shop", "*", "rail")
                .build()
                .start();
        BacklogSampler sampler =
            new BacklogSampler(
                database.dataSource(), Schema.DEFAULT, Duration.ofMillis(500), backlog::show)) {
      database.execute(
          """
          select postrider.enqueue('shop', 'orders', '{}', event_type => t)
            from unnest(array['fine', 'later', 'never']) t
          """);
      relay.wake();
      sampler.start();
      await().atMost(Duration.ofSeconds(30)).until(() -> isDone(registry.scrape()));
      scrape = registry.scrape();
      exported = scrape.lines().filter(l -> !l.startsWith("#")).map(s -> series(s)).toList();
    }
  }

  /** One died, one got through, and the backlog shows it. */
  private static boolean isDone(String scrape) {
    return scrape.contains("outbox_publish_success_total{")
        && scrape
            .lines()
            .anyMatch(l -> l.startsWith("outbox_topic_dead_depth{") && l.endsWith("} 1.0"));
  }

  private static Outcome answer(Message message) {
    return switch (String.valueOf(message.eventType())) {
      case "fine" -> Outcome.delivered();
      case "later" -> Outcome.retryable("busy", "come again");
      default -> Outcome.terminal("refused", "for good");
    };
  }

  private static Series series(String line) {
    MatchResult found = SELECTOR.matcher(line).results().findFirst().orElseThrow();
    Map<String, String> labels = new HashMap<>();
    labels(found).forEach(label -> labels.put(label.group(1), label.group(3)));
    return new Series(found.group(1), labels);
  }

  private static List<MatchResult> labels(MatchResult selector) {
    return selector.group(2) == null
        ? List.of()
        : LABEL.matcher(selector.group(2)).results().toList();
  }

  private static List<Series> named(String name) {
    return exported.stream().filter(series -> series.name().equals(name)).toList();
  }

  @Test
  void everyMetricIsExportedWithTheLabelsItIsAskedBy() throws Exception {
    List<String> missing = new ArrayList<>();
    for (String expression : Monitoring.expressions()) {
      List<MatchResult> selectors = SELECTOR.matcher(expression).results().toList();
      assertThat(selectors).as(expression).isNotEmpty();
      for (MatchResult selector : selectors) {
        if (named(selector.group(1)).stream().noneMatch(series -> fits(series, selector))) {
          missing.add(selector.group());
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  private static boolean fits(Series series, MatchResult selector) {
    return labels(selector).stream()
        .filter(label -> !OF_THE_SCRAPE.contains(label.group(1)))
        .allMatch(
            label -> series.labels().getOrDefault(label.group(1), "").matches(label.group(3)));
  }

  @Test
  void everyLabelThatIsGroupedByIsExported() throws Exception {
    for (String expression : Monitoring.expressions()) {
      for (MatchResult grouping : GROUPING.matcher(expression).results().toList()) {
        Set<String> asked =
            Set.of(grouping.group(1).split(", ")).stream()
                .filter(label -> !OF_THE_SCRAPE.contains(label))
                .collect(Collectors.toSet());
        String metric = grouping.group(2).replaceAll(".*(outbox_)", "$1");
        assertThat(named(metric))
            .as(expression)
            .anySatisfy(series -> assertThat(series.labels().keySet()).containsAll(asked));
      }
    }
  }

  /** Each with a help text, a unit that is spelled out and the ending of its kind. */
  @Test
  @Tag("HE-12")
  void prometheusFindsNothingWrong() throws Exception {
    assertThat(Monitoring.checkMetrics(scrape)).isEmpty();
    assertThatThrownBy(() -> Monitoring.checkMetrics(scrape.replaceAll("(# HELP \\w+).*", "$1 ")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("outbox_attempts_total no help text");
  }

  /** This test itself: a name that nobody exports is found. */
  @Test
  void aMetricThatNobodyExportsWouldBeFound() {
    assertThat(named("outbox_publish_success_total")).isNotEmpty();
    assertThat(named("outbox_published_total")).isEmpty();
    MatchResult renamed =
        SELECTOR
            .matcher("outbox_attempts_total{state=\"DIED\"}")
            .results()
            .findFirst()
            .orElseThrow();
    assertThat(named("outbox_attempts_total")).noneMatch(series -> fits(series, renamed));
  }
}
