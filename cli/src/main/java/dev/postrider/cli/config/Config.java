package dev.postrider.cli.config;

import dev.postrider.relay.RelayConfig;
import dev.postrider.store.Schema;
import java.util.ArrayList;
import java.util.List;

/** All that can be configured, checked. Immutable. */
public record Config(
    DatabaseConfig database,
    Schema schema,
    RelayConfig relay,
    ArchiveSettings archive,
    List<DestinationConfig> destinations,
    List<RouteConfig> routes) {
  public Config {
    destinations = List.copyOf(destinations);
    routes = List.copyOf(routes);
  }

  /** The same with one more destination and a route to it for everything. */
  public Config withRouteForAll(DestinationConfig destination, RouteConfig route) {
    List<DestinationConfig> more = new ArrayList<>(destinations);
    more.add(destination);
    return new Config(database, schema, relay, archive, more, List.of(route));
  }
}
