package dev.postrider.relay;

import dev.postrider.message.PostriderException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * How a relay works.
 *
 * @param name tells this relay from all others; seen by operators as the holder of leases
 * @param batchSize messages per claim at most
 * @param carriers threads that claim and settle, each on a connection of its own
 * @param pollInterval how often to look without being woken
 * @param lease how long a claim holds without being renewed
 * @param reapInterval how often to look for the leases of dead relays
 * @param statementTimeout for each statement of the relay
 * @param shutdownTimeout for what is in flight when the relay stops
 * @param listen whether to listen for the doorbell; polling alone is enough, only slower
 * @param partitionsAhead days for which partitions are made in advance
 */
public record RelayConfig(
    String name,
    int batchSize,
    int carriers,
    Duration pollInterval,
    Duration lease,
    Duration reapInterval,
    Duration statementTimeout,
    Duration shutdownTimeout,
    boolean listen,
    int partitionsAhead) {

  public static RelayConfig defaults() {
    return new RelayConfig(
        ManagementFactory.getRuntimeMXBean().getName() + "-" + shortId(),
        1000,
        2,
        Duration.ofMillis(500),
        Duration.ofSeconds(60),
        Duration.ofSeconds(10),
        Duration.ofSeconds(30),
        Duration.ofSeconds(20),
        true,
        7);
  }

  public RelayConfig {
    List<String> wrong = new ArrayList<>();
    check(wrong, !name.isBlank() && name.length() <= 200, "a name of 1..200 characters", name);
    check(wrong, batchSize >= 1 && batchSize <= 10_000, "batchSize 1..10000", batchSize);
    check(wrong, carriers >= 1 && carriers <= 64, "carriers 1..64", carriers);
    check(wrong, within(pollInterval, 10, 60_000), "pollInterval 10 ms..60 s", pollInterval);
    check(wrong, within(lease, 1_000, 3_600_000), "lease 1 s..1 h", lease);
    check(wrong, within(reapInterval, 100, 60_000), "reapInterval 100 ms..60 s", reapInterval);
    check(
        wrong,
        within(statementTimeout, 100, 600_000),
        "statementTimeout 100 ms..10 min",
        statementTimeout);
    check(wrong, within(shutdownTimeout, 0, 600_000), "shutdownTimeout 0..10 min", shutdownTimeout);
    check(
        wrong,
        partitionsAhead >= 1 && partitionsAhead <= 90,
        "partitionsAhead 1..90",
        partitionsAhead);
    if (!wrong.isEmpty()) {
      throw new PostriderException("relay configuration: " + String.join("; ", wrong));
    }
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

  private static String shortId() {
    return UUID.randomUUID().toString().substring(0, 8);
  }

  public RelayConfig withName(String value) {
    return new RelayConfig(
        value,
        batchSize,
        carriers,
        pollInterval,
        lease,
        reapInterval,
        statementTimeout,
        shutdownTimeout,
        listen,
        partitionsAhead);
  }

  public RelayConfig withBatchSize(int value) {
    return new RelayConfig(
        name,
        value,
        carriers,
        pollInterval,
        lease,
        reapInterval,
        statementTimeout,
        shutdownTimeout,
        listen,
        partitionsAhead);
  }

  public RelayConfig withCarriers(int value) {
    return new RelayConfig(
        name,
        batchSize,
        value,
        pollInterval,
        lease,
        reapInterval,
        statementTimeout,
        shutdownTimeout,
        listen,
        partitionsAhead);
  }

  public RelayConfig withPollInterval(Duration value) {
    return new RelayConfig(
        name,
        batchSize,
        carriers,
        value,
        lease,
        reapInterval,
        statementTimeout,
        shutdownTimeout,
        listen,
        partitionsAhead);
  }

  public RelayConfig withLease(Duration value) {
    return new RelayConfig(
        name,
        batchSize,
        carriers,
        pollInterval,
        value,
        reapInterval,
        statementTimeout,
        shutdownTimeout,
        listen,
        partitionsAhead);
  }

  public RelayConfig withReapInterval(Duration value) {
    return new RelayConfig(
        name,
        batchSize,
        carriers,
        pollInterval,
        lease,
        value,
        statementTimeout,
        shutdownTimeout,
        listen,
        partitionsAhead);
  }

  public RelayConfig withShutdownTimeout(Duration value) {
    return new RelayConfig(
        name,
        batchSize,
        carriers,
        pollInterval,
        lease,
        reapInterval,
        statementTimeout,
        value,
        listen,
        partitionsAhead);
  }

  public RelayConfig withListen(boolean value) {
    return new RelayConfig(
        name,
        batchSize,
        carriers,
        pollInterval,
        lease,
        reapInterval,
        statementTimeout,
        shutdownTimeout,
        value,
        partitionsAhead);
  }
}
