package dev.postrider.bench;

import dev.postrider.kafka.server.KafkaServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** How fast a relay carries a backlog to Kafka, against a bare producer with the bodies at hand. */
final class KafkaScenario implements Scenario {
  private static final int MOST = 100_000;

  @Override
  public String name() {
    return "kafka";
  }

  @Override
  public String summary() {
    return "a backlog to a real Kafka broker, against a bare producer with acks=all";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Drain drain = Drain.of(database, options);
    Shape orders = Shape.topic("orders");
    int messages = Math.min(options.messages(), MOST);
    drain.load(orders, messages);
    List<byte[]> bodies = bodies(database);
    // Topics come and go with the rounds; what is deleted should be gone before the next one.
    try (KafkaServer server = KafkaServer.start(Map.of("file.delete.delay.ms", "100"))) {
      KafkaTarget target = new KafkaTarget(server.address());
      Rounds rounds = new Rounds(database.meter());
      rounds.variant("bare producer", () -> target.bare(bodies));
      rounds.variant(
          "relay",
          () -> {
            drain.load(orders, messages);
            return target.relay(database, messages, options.workers());
          });
      rounds.variant(
          "relay 1000 keys",
          () -> {
            drain.load(orders.keyed(), messages);
            return target.relay(database, messages, options.workers());
          });
      rounds.variant(
          "relay hot key",
          () -> {
            drain.load(orders.key("'hot'"), messages);
            return target.relay(database, messages, options.workers());
          });
      rounds.variant( // what the engine costs without Kafka
          "relay to nowhere", () -> drain.alone(orders, messages));
      rounds
          .variant( // what any outbox that takes its rows out of a table can reach on this machine
              "raw delete to producer",
              () -> {
                drain.load(orders, messages);
                RawDelete.prepare(database);
                return target.raw(database, messages, options.workers());
              });
      rounds.run(1);
      Rounds.Result result = rounds.run(options.drainRounds());
      report.rates("messages/s", result);
      report.ratio("kafka_vs_bare", result.ratio("relay", "bare producer"));
      report.ratio("kafka_1000_keys_vs_no_key", result.ratio("relay 1000 keys", "relay"));
      report.ratio("kafka_hot_key_vs_no_key", result.ratio("relay hot key", "relay"));
    }
  }

  private static List<byte[]> bodies(BenchDatabase database) throws SQLException {
    List<byte[]> bodies = new ArrayList<>();
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select payload from postrider.message")) {
      while (rows.next()) {
        bodies.add(rows.getBytes(1));
      }
    }
    return bodies;
  }
}
