package dev.postrider.server.stream;

import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What stream clients may use. Checks itself and reports everything that is wrong at once.
 * Immutable.
 *
 * @param places for clients; who finds none is turned away
 * @param bufferEvents by which a client may be behind before it is cut off
 * @param bufferBytes the same in bytes; all clients share this one buffer
 * @param catchUps pages that clients who are behind hold in memory together
 * @param heartbeat after so much silence a client is told the position
 * @param stall how long a client may take nothing of what waits for it
 * @param poll how often the log is looked at without being woken
 */
public record StreamConfig(
    Places places,
    int bufferEvents,
    int bufferBytes,
    int catchUps,
    Duration heartbeat,
    Duration stall,
    Duration poll) {

  /**
   * Clients that are connected at a time.
   *
   * @param perToken with one token
   * @param perAddress from one address
   */
  public record Places(int most, int perToken, int perAddress) {}

  public static final StreamConfig DEFAULT =
      new StreamConfig(
          new Places(2_000, 500, 500),
          10_000,
          64 << 20,
          16,
          Duration.ofSeconds(15),
          Duration.ofSeconds(20),
          Duration.ofSeconds(1));

  public StreamConfig {
    List<String> wrong = new ArrayList<>();
    places(wrong, "clients", places.most);
    places(wrong, "clients per token", places.perToken);
    places(wrong, "clients per address", places.perAddress);
    check(
        wrong,
        bufferEvents >= 1 && bufferEvents <= 1_000_000,
        "bufferEvents 1..1000000",
        bufferEvents);
    check(wrong, bufferBytes >= 1 << 10, "bufferBytes of at least 1 KiB", bufferBytes);
    check(wrong, catchUps >= 1 && catchUps <= 1_000, "catchUps 1..1000", catchUps);
    check(wrong, within(heartbeat, 100, 300_000), "heartbeat 100 ms..5 min", heartbeat);
    check(wrong, within(stall, 100, 600_000), "stall 100 ms..10 min", stall);
    check(wrong, within(poll, 10, 60_000), "poll 10 ms..60 s", poll);
    if (!wrong.isEmpty()) {
      throw new PostriderException("stream configuration: " + String.join("; ", wrong));
    }
  }

  private static void places(List<String> wrong, String name, int given) {
    check(wrong, given >= 1 && given <= 100_000, name + " 1..100000", given);
  }

  private static boolean within(Duration value, long minMs, long maxMs) {
    return value.compareTo(Duration.ofMillis(minMs)) >= 0
        && value.compareTo(Duration.ofMillis(maxMs)) <= 0;
  }

  private static void check(List<String> wrong, boolean ok, String expected, Object given) {
    if (!ok) {
      wrong.add("expected " + expected + ", got " + given);
    }
  }

  public StreamConfig withClients(int most, int perToken, int perAddress) {
    return new StreamConfig(
        new Places(most, perToken, perAddress),
        bufferEvents,
        bufferBytes,
        catchUps,
        heartbeat,
        stall,
        poll);
  }

  public StreamConfig withBuffer(int events, int bytes) {
    return new StreamConfig(places, events, bytes, catchUps, heartbeat, stall, poll);
  }

  public StreamConfig withHeartbeat(Duration value) {
    return new StreamConfig(places, bufferEvents, bufferBytes, catchUps, value, stall, poll);
  }

  public StreamConfig withStall(Duration value) {
    return new StreamConfig(places, bufferEvents, bufferBytes, catchUps, heartbeat, value, poll);
  }
}
