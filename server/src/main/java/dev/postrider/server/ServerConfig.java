package dev.postrider.server;

import dev.postrider.message.PostriderException;
import dev.postrider.server.access.Proxies;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the server listens on and what it allows. Checks itself and reports everything that is wrong
 * at once. Immutable.
 *
 * @param port 0 for any that is free
 * @param tls null for plain HTTP, on loopback only
 * @param allowPlain lets it speak plain HTTP on other addresses too, behind a proxy that has TLS
 * @param proxies whose word about the caller's address is taken
 * @param limits of each request and of all together
 * @param oldestPending from which age of the oldest message on it reports itself degraded
 * @param frameAncestors origins whose pages may show the console in a frame, such as {@code
 *     https://ops.example.com}; none if empty
 */
public record ServerConfig(
    String host,
    int port,
    @Nullable Tls tls,
    boolean allowPlain,
    Proxies proxies,
    Limits limits,
    Duration oldestPending,
    List<String> frameAncestors) {

  /** Nothing in it can end the directive or add another one to the policy. */
  private static final Pattern ORIGIN =
      Pattern.compile("https?://(?:\\*\\.)?[a-zA-Z0-9.-]+(?::[0-9]{1,5})?");

  /** Loopback, port 7080, plain HTTP. */
  public static final ServerConfig DEFAULT =
      new ServerConfig(
          "127.0.0.1",
          7080,
          null,
          false,
          Proxies.NONE,
          Limits.DEFAULT,
          Duration.ofMinutes(5),
          List.of());

  public ServerConfig {
    List<String> problems = new ArrayList<>();
    Limits.need(problems, port >= 0 && port <= 65535, "port must be from 0 to 65535, got " + port);
    limits.check(problems);
    frameAncestors = List.copyOf(frameAncestors);
    for (String origin : frameAncestors) {
      Limits.need(
          problems,
          ORIGIN.matcher(origin).matches(),
          "frame ancestor must be an origin such as https://ops.example.com, got " + origin);
    }
    Limits.between(
        problems, "oldest pending age", oldestPending, Duration.ofSeconds(1), Duration.ofDays(365));
    checkHost(problems, host, tls != null || allowPlain);
    if (!problems.isEmpty()) {
      throw new PostriderException("server: " + String.join("; ", problems));
    }
  }

  private static void checkHost(List<String> problems, String host, boolean anywhere) {
    try {
      Limits.need(
          problems,
          anywhere || InetAddress.getByName(host).isLoopbackAddress(),
          "host "
              + host
              + " can be reached from outside, and tokens would travel in the clear; set up TLS, or"
              + " allow plain HTTP if a proxy in front has TLS");
    } catch (UnknownHostException e) {
      problems.add("host " + host + " is not an address of this machine");
    }
  }

  public ServerConfig withHost(String value) {
    return new ServerConfig(
        value, port, tls, allowPlain, proxies, limits, oldestPending, frameAncestors);
  }

  public ServerConfig withPort(int value) {
    return new ServerConfig(
        host, value, tls, allowPlain, proxies, limits, oldestPending, frameAncestors);
  }

  public ServerConfig withTls(Tls value) {
    return new ServerConfig(
        host, port, value, allowPlain, proxies, limits, oldestPending, frameAncestors);
  }

  public ServerConfig withPlainAllowed() {
    return new ServerConfig(host, port, tls, true, proxies, limits, oldestPending, frameAncestors);
  }

  public ServerConfig withProxies(Proxies value) {
    return new ServerConfig(
        host, port, tls, allowPlain, value, limits, oldestPending, frameAncestors);
  }

  public ServerConfig withLimits(Limits value) {
    return new ServerConfig(
        host, port, tls, allowPlain, proxies, value, oldestPending, frameAncestors);
  }

  public ServerConfig withFrameAncestors(List<String> value) {
    return new ServerConfig(host, port, tls, allowPlain, proxies, limits, oldestPending, value);
  }

  public ServerConfig withOldestPending(Duration value) {
    return new ServerConfig(host, port, tls, allowPlain, proxies, limits, value, frameAncestors);
  }
}
