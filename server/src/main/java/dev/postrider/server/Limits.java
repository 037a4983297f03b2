package dev.postrider.server;

import java.time.Duration;
import java.util.List;

/**
 * What keeps one caller from using up what is there for all. Immutable.
 *
 * @param requestBytes of a body of messages; other bodies are shorter
 * @param threads that handle requests
 */
public record Limits(
    long requestBytes, int threads, Times times, Connections connections, Rate rate) {

  /**
   * How long a connection may take for what.
   *
   * @param head from a request's first byte to the end of its head; a new connection has as long
   * @param request from a request's first byte to its last
   * @param idle between requests
   * @param bytesPerSecond at which a body comes and an answer is taken, at the least
   */
  public record Times(Duration head, Duration request, Duration idle, int bytesPerSecond) {}

  /**
   * Connections that are open at a time.
   *
   * @param perAddress of one caller; trusted proxies are not counted
   */
  public record Connections(int most, int perAddress) {}

  /**
   * Requests of one token, or of one address without a good token.
   *
   * @param burst that may come at once
   */
  public record Rate(double perSecond, int burst) {}

  public static final Limits DEFAULT =
      new Limits(
          8 << 20,
          32,
          new Times(Duration.ofSeconds(10), Duration.ofSeconds(30), Duration.ofSeconds(60), 1024),
          new Connections(4096, 1024),
          new Rate(200, 400));

  /**
   * Bytes of all bodies together, and of all answers that wait to be taken.
   *
   * @param heap bytes of this process
   */
  long memory(long heap) {
    // A caller has half of it, and the largest body needs a byte more to see its end.
    return Math.max(2 * (requestBytes + 1), Math.min(threads * requestBytes, heap / 4));
  }

  void check(List<String> problems) {
    need(
        problems,
        requestBytes >= 1024 && requestBytes <= 256 << 20,
        "request bytes must be from 1 KiB to 256 MiB, got " + requestBytes);
    need(
        problems,
        threads >= 8 && threads <= 1000,
        "threads must be from 8 to 1000, got " + threads);
    Duration least = Duration.ofMillis(100);
    Duration most = Duration.ofMinutes(10);
    between(problems, "head time", times.head, least, most);
    between(problems, "request time", times.request, least, most);
    between(problems, "idle time", times.idle, least, most);
    need(
        problems,
        times.bytesPerSecond >= 1 && times.bytesPerSecond <= 1 << 20,
        "bytes per second must be from 1 to 1 MiB, got " + times.bytesPerSecond);
    need(
        problems,
        connections.most >= 1 && connections.most <= 100_000,
        "connections must be from 1 to 100,000, got " + connections.most);
    need(
        problems,
        connections.perAddress >= 1 && connections.perAddress <= 100_000,
        "connections per address must be from 1 to 100,000, got " + connections.perAddress);
    need(
        problems,
        rate.perSecond > 0 && rate.burst >= 1,
        "the rate must be above 0 with a burst of at least 1, got "
            + rate.perSecond
            + " with "
            + rate.burst);
  }

  static void need(List<String> problems, boolean met, String problem) {
    if (!met) {
      problems.add(problem);
    }
  }

  static void between(
      List<String> problems, String name, Duration value, Duration least, Duration most) {
    need(
        problems,
        value.compareTo(least) >= 0 && value.compareTo(most) <= 0,
        name + " must be from " + least + " to " + most + ", got " + value);
  }

  public Limits withRequestBytes(long value) {
    return new Limits(value, threads, times, connections, rate);
  }

  public Limits withTimes(Times value) {
    return new Limits(requestBytes, threads, value, connections, rate);
  }

  public Limits withConnections(int most, int perAddress) {
    return new Limits(requestBytes, threads, times, new Connections(most, perAddress), rate);
  }

  public Limits withRate(double perSecond, int burst) {
    return new Limits(requestBytes, threads, times, connections, new Rate(perSecond, burst));
  }
}
