package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.cli.Executable.Running;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alert rules with a relay and a server as processes of their own, in a real Prometheus. */
@Tag("OP-7")
@Tag("OP-4")
class SeparateProcessesTest {
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** Both targets answered fifteen times, so every window is full and every alert had its time. */
  private static final String WATCHED = "count_over_time(up[1m]) >= 15 and up == 1";

  @TempDir Path folder;

  @Test
  void noAlertIsFalseAndAKilledRelayIsMissed() throws Exception {
    Desk desk = Desk.ready(folder);
    Files.writeString(
        folder.resolve("postrider.yaml"),
        """
        postrider:
          destinations: {screen: {type: log}}
          routes: [{namespace: shop, destination: screen}]
        """);
    String token = desk.run("token", "create", "prometheus", "--permission", "metrics").ok();
    try (Running server = desk.postrider.start("server", "--port", "0");
        Running relay = desk.postrider.start("relay")) {
      String relayAt = WatchTest.monitor(relay).replace("http://", "");
      String serverAt = ServeTest.url(server).replace("http://", "");
      try (Prometheus prometheus = Prometheus.start(folder, token, List.of(relayAt, serverAt))) {
        await().atMost(PATIENCE).until(() -> prometheus.count(WATCHED) == 2);
        assertThat(prometheus.count("count by (instance) (outbox_wakeups_total)")).isEqualTo(1);
        assertThat(prometheus.count("outbox_pending_depth")).isEqualTo(2);
        assertThat(prometheus.alerts()).as("all is well").isEmpty();

        relay.process().destroyForcibly().waitFor();
        await()
            .atMost(PATIENCE)
            .until(() -> prometheus.alerts().contains("PostriderRelayGone firing"));
        assertThat(prometheus.alerts()).containsExactly("PostriderRelayGone firing");

        String port = relayAt.replaceAll(".*:", "");
        try (Running next =
            desk.postrider.with("POSTRIDER_RELAY_MONITOR_PORT", port).start("relay")) {
          await().atMost(PATIENCE).until(() -> prometheus.alerts().isEmpty());
          assertThat(next.process().isAlive()).as(next.err()).isTrue();
        }
      }
    }
  }
}
