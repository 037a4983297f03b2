package dev.postrider.cli.command;

import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.DestinationConfig;
import dev.postrider.cli.config.RouteConfig;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RouteOptions;
import java.time.Duration;
import javax.sql.DataSource;

/** Builds relays as configured. */
final class Relays {
  private Relays() {}

  static Relay.Builder builder(Config config, DataSource dataSource, DataSource direct) {
    Relay.Builder builder =
        Relay.builder(dataSource)
            .direct(direct)
            .schema(config.schema())
            .config(config.relay())
            .retention(config.retention());
    for (DestinationConfig destination : config.destinations()) {
      builder.destination(
          destination.name(),
          destination.opener().open(dataSource, config.schema()),
          destination.options());
    }
    for (RouteConfig route : config.routes()) {
      RouteOptions options = RouteOptions.DEFAULT.withRetry(route.retry());
      if (route.subscription().isEmpty()) {
        builder.route(route.namespace(), route.topic(), route.destination(), options);
      } else {
        builder.subscription(
            route.namespace(), route.topic(), route.subscription(), route.destination(), options);
      }
    }
    return builder;
  }

  /** How long stopping may take, before the process ends all the same. */
  static Duration patience(Config config) {
    return config.relay().shutdownTimeout().plusSeconds(30);
  }

  /** What goes where, for people. */
  static String routes(Config config) {
    StringBuilder text = new StringBuilder();
    for (RouteConfig route : config.routes()) {
      text.append(text.isEmpty() ? "" : ", ");
      text.append(route.namespace()).append('/').append(route.topic());
      text.append(" -> ").append(route.destination());
    }
    return text.toString();
  }
}
