package dev.postrider.cli.command;

import dev.postrider.cli.config.DestinationConfig;
import dev.postrider.cli.config.RouteConfig;
import dev.postrider.cli.demo.DemoDestination;
import dev.postrider.cli.demo.DemoTraffic;
import dev.postrider.cli.destination.LogDestination;
import dev.postrider.dispatch.DestinationOptions;
import dev.postrider.message.RetryPolicy;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.util.List;

/** Where {@code up} sends messages when nobody has configured it. */
final class UpRoutes {
  /** A line on the screen for each. */
  static final DestinationConfig LOG =
      new DestinationConfig(
          "log",
          "log",
          DestinationOptions.DEFAULT,
          () -> new LogDestination(new FileOutputStream(FileDescriptor.out)));

  static final RouteConfig TO_LOG =
      new RouteConfig(RouteConfig.ANY, RouteConfig.ANY, LOG.name(), RetryPolicy.DEFAULT);

  static final DestinationConfig DEMO =
      new DestinationConfig("demo", "demo", DestinationOptions.DEFAULT, DemoDestination::open);

  static final List<RouteConfig> TO_DEMO =
      List.of(
          new RouteConfig(
              DemoTraffic.NAMESPACE, "payments", DEMO.name(), DemoDestination.retry(true)),
          new RouteConfig(
              DemoTraffic.NAMESPACE, RouteConfig.ANY, DEMO.name(), DemoDestination.retry(false)));

  private UpRoutes() {}
}
