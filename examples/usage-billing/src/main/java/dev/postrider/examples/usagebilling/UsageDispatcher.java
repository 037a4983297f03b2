package dev.postrider.examples.usagebilling;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.examples.stage.ChildProcess;
import dev.postrider.examples.stage.Stage;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;

/** Brings usage messages to the selected policy; as many replicas as you like. */
final class UsageDispatcher {
  private UsageDispatcher() {}

  /** A replica in a process of its own. Arguments: JDBC URL, policy, name. */
  public static void main(String[] arguments) throws Exception {
    DataSource dataSource = Stage.dataSource(arguments[0]);
    try (Relay relay = relay(dataSource, QuotaPolicy.named(arguments[1]), arguments[2]).start()) {
      ChildProcess.untilParentEnds();
    }
  }

  static Relay relay(DataSource dataSource, QuotaPolicy policy, String name) {
    return Relay.builder(dataSource)
        .config(
            RelayConfig.defaults()
                .withName(name)
                .withBatchSize(20)
                .withLease(Duration.ofSeconds(1)) // short, to watch what is left behind taken over
                .withReapInterval(Duration.ofMillis(250)))
        .destination(
            policy.name(),
            HandlerDestination.of(4, message -> publish(dataSource, policy, message)),
            DestinationOptions.DEFAULT.withMaxInFlight(40))
        .route("mini-chat", "usage_snapshot", policy.name())
        .build();
  }

  /** What fails is retried with backoff, and is dead after the tenth time. */
  private static Outcome publish(DataSource billing, QuotaPolicy policy, Message message)
      throws SQLException {
    try (Connection connection = billing.getConnection()) {
      String key = Objects.requireNonNull(message.dedupeKey());
      policy.publishUsage(connection, key, message.text());
      return Outcome.delivered();
    }
  }
}
