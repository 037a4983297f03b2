package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.cli.Executable.Running;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A relay in a process of its own, watched from outside. */
class WatchTest {
  @TempDir Path folder;
  private Desk desk;

  @BeforeEach
  void configure() throws Exception {
    desk = Desk.ready(folder);
    Files.writeString(
        folder.resolve("postrider.yaml"),
        """
        postrider:
          destinations:
            screen: {type: log}
            rail: {type: webhook, url: "http://127.0.0.1:1/", unsigned: true,
              allow-nets: [127.0.0.0/8], breaker: {failures: 1, open-min: 1m, open-max: 1m}}
          routes:
            - {namespace: shop, topic: orders, destination: screen}
            - {namespace: shop, topic: payments, destination: rail}
            - {namespace: shop, topic: payments, subscription: copy, destination: screen}
        """);
  }

  static String monitor(Running relay) {
    Pattern line = Pattern.compile("monitor: (http://\\S+)");
    await().until(() -> line.matcher(relay.err()).find() || !relay.process().isAlive());
    Matcher found = line.matcher(relay.err());
    assertThat(found.find()).as(relay.err()).isTrue();
    return found.group(1);
  }

  private String token() {
    return desk.run("token", "create", "prometheus", "--permission", "metrics").ok();
  }

  @Test
  @Tag("OP-7")
  void aRelayHasHealthForEverybodyAndMetricsForTokens() throws Exception {
    String token = token();
    try (Running relay = desk.postrider.start("relay", "--name", "night")) {
      String url = monitor(relay);
      assertThat(url).startsWith("http://127.0.0.1:");
      await().until(() -> Http.get(url + "/v1/health/ready", "none").startsWith("200 "));
      assertThat(Http.get(url + "/v1/health/live", "none")).startsWith("200 ");
      await()
          .until(
              () ->
                  Http.get(url + "/v1/health", "none").contains("\"listener\":{\"status\":\"up\""));
      assertThat(Http.get(url + "/v1/health", "none"))
          .contains("\"database\"", "\"relay\"", "\"destinations\"", "\"backlog\"")
          .doesNotContain("night");
      assertThat(Http.get(url + "/v1/metrics", "none")).startsWith("401 ");
      assertThat(Http.get(url + "/v1/metrics", token))
          .startsWith("200 ")
          .contains("outbox_wakeups_total", "outbox_pending_depth", "destination=\"screen\"");
      assertThat(Http.get(url + "/v1/messages", token)).as("no API here").startsWith("404 ");

      desk.execute("select postrider.enqueue('shop', 'payments', '{}')");
      await()
          .until(
              () ->
                  Http.get(url + "/v1/health", "none")
                      .contains("\"destinations\":{\"status\":\"degraded\""));
      assertThat(Http.get(url + "/v1/health/live", "none")).startsWith("200 ");
      assertThat(Http.get(url + "/v1/health/ready", "none")).startsWith("200 ");

      assertThat(relay.interrupt().exitCode()).as(relay.err()).isZero();
    }
  }

  @Test
  @Tag("OP-7")
  void aTakenPortAndAnOpenAddressAreRefusedAndTheMonitorCanBeOff() throws Exception {
    try (Running first = desk.postrider.start("relay")) {
      String port = monitor(first).replaceAll(".*:", "");
      desk.postrider
          .with("POSTRIDER_RELAY_MONITOR_PORT", port)
          .run("relay")
          .failed(1, "monitor cannot start", port, "postrider.relay.monitor.port");
    }
    desk.postrider
        .with("POSTRIDER_RELAY_MONITOR_HOST", "0.0.0.0")
        .run("relay")
        .failed(2, "postrider.relay.monitor.host", "TLS");
    try (Running quiet =
        desk.postrider.with("POSTRIDER_RELAY_MONITOR_ENABLED", "false").start("relay")) {
      await().until(() -> quiet.err().contains("shop/orders -> screen"));
      assertThat(quiet.interrupt().err()).doesNotContain("monitor: ");
    }
  }

  @Test
  @Tag("OP-9")
  void statusAndDoctorShowWhatRelaysServeAndWhatNoneDoes() throws Exception {
    try (Running relay = desk.postrider.start("relay", "--name", "night")) {
      await().until(() -> desk.column("select instance from postrider.relay").size() == 1);
      assertThat(relay.err()).contains("event=outbox_relay_started relay=night");
      desk.execute("select postrider.enqueue('shop', 'odrers', '{}')");
      desk.execute("select postrider.enqueue('shop', 'payments', '{}')");
      await().until(() -> relay.err().contains("event=outbox_topic_unrouted"));
      await()
          .until(
              () ->
                  desk.column("select name from postrider.relay_destination where breaker = 'open'")
                      .equals(List.of("rail")));
      assertThat(desk.run("status").ok())
          .containsPattern("night +0\\.\\d+\\.\\d+\\S* ")
          .containsPattern("rail +webhook +open +\\S* *night")
          .containsPattern("screen +log +closed +night")
          .containsPattern("shop/orders +screen +night")
          .containsPattern("shop/payments +rail +night")
          .containsPattern("shop/payments#copy +screen +night")
          .contains("No living relay has a route for shop/odrers");
      Map<String, Object> json = desk.run("status", "--json").json();
      assertThat(json.get("unrouted"))
          .isEqualTo(List.of(Map.of("namespace", "shop", "topic", "odrers")));
      assertThat(json.get("relays").toString())
          .contains("version=", "breaker=open", "topic=orders", "subscription=copy");
      assertThat(desk.run("doctor").out())
          .containsPattern("trouble +routes +no living relay has a route for shop/odrers")
          .containsPattern("trouble +breakers +open: rail at night")
          .containsPattern("ok +relays +1 alive \\(version 0");
      desk.run("pause", "destination", "rial")
          .failed(1, "no relay knows a destination rial; known are: rail, screen", "force");
      assertThat(desk.run("pause", "destination", "rail").ok()).contains("paused");
      assertThat(desk.run("pause", "destination", "rial", "--force").ok()).contains("paused");
      assertThat(relay.interrupt().exitCode()).isZero();
    }
    assertThat(desk.run("status").ok()).contains("No relay runs.").doesNotContain("has a route");
  }
}
