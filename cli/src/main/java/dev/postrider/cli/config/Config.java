package dev.postrider.cli.config;

import dev.postrider.relay.RelayConfig;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.schema.Schema;
import java.util.ArrayList;
import java.util.List;

/** All that can be configured, checked. Immutable. */
public record Config(
    DatabaseConfig database,
    Schema schema,
    RelayConfig relay,
    MonitorSettings monitor,
    ArchiveSettings archive,
    RetentionConfig retention,
    ServerSettings server,
    List<DestinationConfig> destinations,
    List<RouteConfig> routes) {
  public Config {
    destinations = List.copyOf(destinations);
    routes = List.copyOf(routes);
  }

  /** The same with another server. */
  public Config withServer(ServerSettings value) {
    return new Config(
        database, schema, relay, monitor, archive, retention, value, destinations, routes);
  }

  /** The same with these destinations and routes too. */
  public Config with(List<DestinationConfig> moreDestinations, List<RouteConfig> moreRoutes) {
    List<DestinationConfig> allDestinations = new ArrayList<>(destinations);
    allDestinations.addAll(moreDestinations);
    List<RouteConfig> allRoutes = new ArrayList<>(routes);
    allRoutes.addAll(moreRoutes);
    return new Config(
        database, schema, relay, monitor, archive, retention, server, allDestinations, allRoutes);
  }
}
