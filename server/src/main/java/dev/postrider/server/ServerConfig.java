package dev.postrider.server;

import dev.postrider.message.PostriderException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the server listens on and what it allows. Checks itself and reports everything that is wrong
 * at once. Immutable.
 *
 * @param port 0 for any that is free
 * @param tls null for plain HTTP, on loopback only
 * @param allowPlain lets it speak plain HTTP on other addresses too, behind a proxy that has TLS
 * @param limits of each request and of all together
 * @param oldestPending from which age of the oldest message on it reports itself degraded
 */
public record ServerConfig(
    String host,
    int port,
    @Nullable Tls tls,
    boolean allowPlain,
    Limits limits,
    Duration oldestPending) {

  /**
   * What keeps one caller from using up what is there for all.
   *
   * @param requestBytes of a body
   * @param requestTime for a body to arrive, and for a connection to be idle
   * @param threads that handle requests
   * @param connections open at a time
   * @param perSecond requests of one token, or of one address without a token
   * @param burst that may come at once
   */
  public record Limits(
      long requestBytes,
      Duration requestTime,
      int threads,
      int connections,
      double perSecond,
      int burst) {
    public static final Limits DEFAULT =
        new Limits(8 << 20, Duration.ofSeconds(30), 32, 4096, 200, 400);

    public Limits withRequestBytes(long value) {
      return new Limits(value, requestTime, threads, connections, perSecond, burst);
    }

    public Limits withRequestTime(Duration value) {
      return new Limits(requestBytes, value, threads, connections, perSecond, burst);
    }

    public Limits withRate(double callsPerSecond, int atOnce) {
      return new Limits(requestBytes, requestTime, threads, connections, callsPerSecond, atOnce);
    }
  }

  /** Loopback, port 7080, plain HTTP. */
  public static final ServerConfig DEFAULT =
      new ServerConfig("127.0.0.1", 7080, null, false, Limits.DEFAULT, Duration.ofMinutes(5));

  public ServerConfig {
    List<String> problems = new ArrayList<>();
    need(problems, port >= 0 && port <= 65535, "port must be from 0 to 65535, got " + port);
    need(
        problems,
        limits.requestBytes >= 1024 && limits.requestBytes <= 256 << 20,
        "request bytes must be from 1 KiB to 256 MiB, got " + limits.requestBytes);
    need(
        problems,
        between(limits.requestTime, Duration.ofMillis(100), Duration.ofMinutes(10)),
        "request time must be from 100 ms to 10 minutes, got " + limits.requestTime);
    need(
        problems,
        limits.threads >= 8 && limits.threads <= 1000,
        "threads must be from 8 to 1000, got " + limits.threads);
    need(
        problems,
        limits.connections >= 1 && limits.connections <= 100_000,
        "connections must be from 1 to 100,000, got " + limits.connections);
    need(
        problems,
        limits.perSecond > 0 && limits.burst >= 1,
        "the rate must be above 0 with a burst of at least 1, got "
            + limits.perSecond
            + " with "
            + limits.burst);
    need(
        problems,
        between(oldestPending, Duration.ofSeconds(1), Duration.ofDays(365)),
        "oldest pending age must be from 1 second to 365 days, got " + oldestPending);
    checkHost(problems, host, tls != null || allowPlain);
    if (!problems.isEmpty()) {
      throw new PostriderException("server: " + String.join("; ", problems));
    }
  }

  private static void checkHost(List<String> problems, String host, boolean anywhere) {
    try {
      need(
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

  private static void need(List<String> problems, boolean met, String problem) {
    if (!met) {
      problems.add(problem);
    }
  }

  private static boolean between(Duration value, Duration least, Duration most) {
    return value.compareTo(least) >= 0 && value.compareTo(most) <= 0;
  }

  public ServerConfig withHost(String value) {
    return new ServerConfig(value, port, tls, allowPlain, limits, oldestPending);
  }

  public ServerConfig withPort(int value) {
    return new ServerConfig(host, value, tls, allowPlain, limits, oldestPending);
  }

  public ServerConfig withTls(Tls value) {
    return new ServerConfig(host, port, value, allowPlain, limits, oldestPending);
  }

  public ServerConfig withPlainAllowed() {
    return new ServerConfig(host, port, tls, true, limits, oldestPending);
  }

  public ServerConfig withLimits(Limits value) {
    return new ServerConfig(host, port, tls, allowPlain, value, oldestPending);
  }

  public ServerConfig withOldestPending(Duration value) {
    return new ServerConfig(host, port, tls, allowPlain, limits, value);
  }
}
