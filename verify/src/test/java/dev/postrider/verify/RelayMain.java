package dev.postrider.verify;

import dev.postrider.dispatch.DestinationOptions;
import dev.postrider.dispatch.HandlerDestination;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/** A relay as a process of its own, to be killed. Arguments: JDBC URL and name. */
final class RelayMain {
  private RelayMain() {}

  public static void main(String[] arguments) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(arguments[0]);
    relay(dataSource, arguments[1]).start();
  }

  static Relay relay(PGSimpleDataSource dataSource, String name) {
    return Relay.builder(dataSource)
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
