package dev.postrider.cli.command;

import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.DestinationConfig;
import dev.postrider.cli.config.RouteConfig;
import dev.postrider.cli.demo.DemoDestination;
import dev.postrider.cli.demo.DemoTraffic;
import dev.postrider.cli.destination.EchoDestination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.message.RetryPolicy;
import dev.postrider.stream.StreamDestination;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.util.List;

/** Where {@code up} sends messages if no routes are configured. */
final class UpRoutes {
  /** To the live stream, and a line on the screen. */
  private static final DestinationConfig STREAM =
      new DestinationConfig(
          "stream",
          "stream",
          DestinationOptions.DEFAULT,
          (dataSource, schema) ->
              new EchoDestination(
                  new StreamDestination(dataSource, schema),
                  new FileOutputStream(FileDescriptor.out)));

  /** The same with failures, and without the lines. */
  private static final DestinationConfig DEMO =
      new DestinationConfig(
          "demo",
          "demo",
          DestinationOptions.DEFAULT,
          (dataSource, schema) -> new DemoDestination(new StreamDestination(dataSource, schema)));

  private UpRoutes() {}

  static Config in(Config config, boolean demo) {
    Config served =
        config.with(
            List.of(STREAM),
            List.of(route(RouteConfig.ANY, RouteConfig.ANY, STREAM, RetryPolicy.DEFAULT)));
    return demo
        ? served.with(
            List.of(DEMO),
            List.of(
                route(DemoTraffic.NAMESPACE, "payments", DEMO, DemoDestination.retry(true)),
                route(DemoTraffic.NAMESPACE, RouteConfig.ANY, DEMO, DemoDestination.retry(false))))
        : served;
  }

  private static RouteConfig route(
      String namespace, String topic, DestinationConfig destination, RetryPolicy retry) {
    return new RouteConfig(namespace, topic, "", destination.name(), retry);
  }
}
