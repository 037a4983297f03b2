package dev.postrider.cli.config;

import dev.postrider.cli.settings.Section;
import dev.postrider.message.PostriderException;
import dev.postrider.server.Limits;
import dev.postrider.server.ServerConfig;
import dev.postrider.server.Tls;
import dev.postrider.server.access.Proxies;
import dev.postrider.server.stream.StreamConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The server's settings. Immutable.
 *
 * @param database connections that requests share
 */
public record ServerSettings(
    String host,
    int port,
    @Nullable Tls tls,
    boolean allowPlain,
    Proxies proxies,
    Limits limits,
    Duration oldestPending,
    List<String> frameAncestors,
    StreamConfig streams,
    int database) {

  /** What the server takes; fails if the host is not one of this machine. */
  public ServerConfig config() {
    return new ServerConfig(
        host, port, tls, allowPlain, proxies, limits, oldestPending, frameAncestors);
  }

  /** The same on another port. */
  public ServerSettings withPort(int value) {
    return new ServerSettings(
        host,
        value,
        tls,
        allowPlain,
        proxies,
        limits,
        oldestPending,
        frameAncestors,
        streams,
        database);
  }

  static ServerSettings read(Section root) {
    ServerConfig usual = ServerConfig.DEFAULT;
    try (Section section = root.section("server")) {
      ServerSettings settings =
          new ServerSettings(
              section.text("host", usual.host()),
              section.number("port", usual.port(), 0, 65_535),
              tls(section),
              section.flag("allow-plain", usual.allowPlain()),
              proxies(section),
              limits(section),
              section.duration(
                  "oldest-pending",
                  usual.oldestPending(),
                  Duration.ofSeconds(1),
                  Duration.ofDays(365)),
              frameAncestors(section),
              streams(section),
              section.number("database-connections", 8, 2, 200));
      check(section, settings);
      return settings;
    }
  }

  /** A name is looked up only when the server starts: other commands may run elsewhere. */
  private static void check(Section section, ServerSettings settings) {
    if (!isAddress(settings.host)) {
      return;
    }
    try {
      settings.config();
    } catch (PostriderException e) {
      section.problem("host", String.valueOf(e.getMessage()).replaceFirst("^server: ", ""));
    }
  }

  static boolean isAddress(String host) {
    return host.matches("[0-9.]+|[0-9a-fA-F:]*:[0-9a-fA-F:.]*|localhost");
  }

  private static Limits limits(Section section) {
    Limits usual = Limits.DEFAULT;
    return new Limits(
        section.size("request-bytes", usual.requestBytes(), 1024, 256 << 20),
        section.number("threads", usual.threads(), 8, 1000),
        times(section, usual.times()),
        new Limits.Connections(
            section.number("connections", usual.connections().most(), 1, 100_000),
            section.number(
                "connections-per-address", usual.connections().perAddress(), 1, 100_000)),
        new Limits.Rate(
            section.number("requests-per-second", (int) usual.rate().perSecond(), 1, 1_000_000),
            section.number("requests-burst", usual.rate().burst(), 1, 1_000_000)));
  }

  private static Limits.Times times(Section section, Limits.Times usual) {
    Duration least = Duration.ofMillis(100);
    Duration most = Duration.ofMinutes(10);
    return new Limits.Times(
        section.duration("head-time", usual.head(), least, most),
        section.duration("request-time", usual.request(), least, most),
        section.duration("idle-time", usual.idle(), least, most),
        (int) section.size("bytes-per-second", usual.bytesPerSecond(), 1, 1 << 20));
  }

  private static Proxies proxies(Section section) {
    try {
      return Proxies.of(section.texts("trusted-proxies"));
    } catch (IllegalArgumentException e) {
      section.problem("trusted-proxies", String.valueOf(e.getMessage()));
      return Proxies.NONE;
    }
  }

  private static List<String> frameAncestors(Section section) {
    List<String> origins = section.texts("frame-ancestors");
    try {
      return ServerConfig.DEFAULT.withFrameAncestors(origins).frameAncestors();
    } catch (PostriderException e) {
      section.problem(
          "frame-ancestors", String.valueOf(e.getMessage()).replaceFirst("^server: ", ""));
      return List.of();
    }
  }

  private static StreamConfig streams(Section server) {
    StreamConfig usual = StreamConfig.DEFAULT;
    try (Section section = server.section("streams")) {
      return usual
          .withClients(
              section.number("clients", usual.places().most(), 1, 100_000),
              section.number("clients-per-token", usual.places().perToken(), 1, 100_000),
              section.number("clients-per-address", usual.places().perAddress(), 1, 100_000))
          .withBuffer(
              section.number("buffer-events", usual.bufferEvents(), 1, 1_000_000),
              (int) section.size("buffer-bytes", usual.bufferBytes(), 1024, 1 << 30))
          .withHeartbeat(
              section.duration(
                  "heartbeat", usual.heartbeat(), Duration.ofMillis(100), Duration.ofMinutes(5)));
    }
  }

  static @Nullable Tls tls(Section server) {
    try (Section section = server.section("tls")) {
      @Nullable String certificates = section.text("certificates");
      @Nullable String key = section.text("key");
      @Nullable String store = section.text("key-store");
      @Nullable String password = section.secret("key-store-password");
      if ((certificates == null) != (key == null)) {
        section.problem(key == null ? "key" : "certificates", "missing; they go together");
      } else if (certificates != null && store != null) {
        section.problem("key-store", "expected either certificates and key, or key-store");
      } else if (certificates != null && key != null) {
        return Tls.pem(Path.of(certificates), Path.of(key));
      }
      return store == null ? null : Tls.keystore(Path.of(store), password == null ? "" : password);
    }
  }
}
