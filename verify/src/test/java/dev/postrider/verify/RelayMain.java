package dev.postrider.verify;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import java.time.Duration;
import java.util.Arrays;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A relay as a process of its own, to be killed. Arguments: JDBC URL, name, and subscriptions of
 * shop/orders.
 */
final class RelayMain {
  private RelayMain() {}

  public static void main(String[] arguments) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(arguments[0]);
    String[] subscriptions = Arrays.copyOfRange(arguments, 2, arguments.length);
    relay(dataSource, arguments[1], subscriptions).start();
  }

  static Relay relay(PGSimpleDataSource dataSource, String name, String... subscriptions) {
    Relay.Builder builder = Relay.builder(dataSource);
    for (String subscription : subscriptions) {
      builder
          .destination(
              subscription,
              HandlerDestination.of(4, new Effects(dataSource, name)),
              DestinationOptions.DEFAULT.withMaxInFlight(60))
          .subscription("shop", "orders", subscription, subscription);
    }
    return builder
        .config(
            RelayConfig.defaults()
                .withName(name)
                .withBatchSize(20)
                .withPollInterval(Duration.ofMillis(50))
                .withLease(Duration.ofSeconds(1))
                .withReapInterval(Duration.ofMillis(100)))
        .destination(
            "effects",
            HandlerDestination.of(4, new Effects(dataSource, name)),
            DestinationOptions.DEFAULT.withMaxInFlight(60))
        .route("shop", "*", "effects")
        .build();
  }
}
