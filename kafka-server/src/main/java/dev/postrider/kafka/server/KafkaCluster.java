package dev.postrider.kafka.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Several Kafka brokers that are one cluster, each in a JVM of its own. Each is a controller too,
 * so the cluster works as long as more than half of them run. Thread-safe.
 */
public final class KafkaCluster implements AutoCloseable {
  private static final int CONTROLLER = 2;

  private final List<KafkaServer> brokers;

  private KafkaCluster(List<KafkaServer> brokers) {
    this.brokers = brokers;
  }

  /** Starts a cluster with empty logs and returns when all brokers answer. */
  public static KafkaCluster start(int size) {
    List<Integer> ports = KafkaServer.freePorts(size * KafkaServer.PORTS);
    String voters =
        IntStream.range(0, size)
            .mapToObj(i -> (i + 1) + "@127.0.0.1:" + ports.get(i * KafkaServer.PORTS + CONTROLLER))
            .collect(Collectors.joining(","));
    KafkaCluster cluster = new KafkaCluster(new ArrayList<>());
    try {
      for (int i = 0; i < size; i++) {
        int first = i * KafkaServer.PORTS;
        Map<String, String> settings =
            Map.of(
                "node.id",
                Integer.toString(i + 1),
                "controller.quorum.voters",
                voters,
                "auto.leader.rebalance.enable", // leaders move when a test says so
                "false");
        KafkaServer broker =
            KafkaServer.prepare(settings, ports.subList(first, first + KafkaServer.PORTS));
        cluster.brokers.add(broker);
        broker.begin();
      }
      cluster.brokers.forEach(KafkaServer::untilReady);
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  /** The addresses of all brokers, where everyone may do everything. */
  public String address() {
    return brokers.stream().map(KafkaServer::address).collect(Collectors.joining(","));
  }

  /** One of them, by the number that Kafka knows it by: 1 and up. */
  public KafkaServer broker(int id) {
    return brokers.get(id - 1);
  }

  /** Stops all of them for good and deletes their data. */
  @Override
  public void close() {
    brokers.forEach(KafkaServer::close);
  }
}
