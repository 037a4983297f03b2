package dev.postrider.cli.config;

import dev.postrider.cli.settings.Section;
import dev.postrider.message.PostriderException;
import dev.postrider.server.ServerConfig;
import dev.postrider.server.Tls;
import org.jspecify.annotations.Nullable;

/** Where a relay shows its health and metrics. Immutable. */
public record MonitorSettings(
    boolean enabled, String host, int port, @Nullable Tls tls, boolean allowPlain) {
  private static final int PORT = 7081;

  /** What the server takes; fails if the host is not one of this machine. */
  public ServerConfig config() {
    ServerConfig usual = ServerConfig.DEFAULT;
    return new ServerConfig(
        host,
        port,
        tls,
        allowPlain,
        usual.proxies(),
        usual.limits(),
        usual.oldestPending(),
        usual.frameAncestors());
  }

  static MonitorSettings read(Section relay) {
    ServerConfig usual = ServerConfig.DEFAULT;
    try (Section section = relay.section("monitor")) {
      MonitorSettings settings =
          new MonitorSettings(
              section.flag("enabled", true),
              section.text("host", usual.host()),
              section.number("port", PORT, 0, 65_535),
              ServerSettings.tls(section),
              section.flag("allow-plain", false));
      if (settings.enabled && ServerSettings.isAddress(settings.host)) {
        check(section, settings);
      }
      return settings;
    }
  }

  private static void check(Section section, MonitorSettings settings) {
    try {
      settings.config();
    } catch (PostriderException e) {
      section.problem("host", String.valueOf(e.getMessage()).replaceFirst("^server: ", ""));
    }
  }
}
