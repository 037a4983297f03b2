package dev.postrider.cli.command;

import dev.postrider.cli.output.Colour;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Screen;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.monitor.LiveRelay;
import dev.postrider.internal.monitor.LiveRelay.Served;
import dev.postrider.internal.monitor.LiveRelay.ServedRoute;
import dev.postrider.message.Route;
import java.util.Map;
import java.util.stream.Collectors;

/** Shows what living relays serve, and what none of them does. */
record FleetTables(Screen screen) {
  private static final int ROUTES_MAX = 50;
  private static final int UNROUTED_MAX = 10;

  void show(Fleet.State fleet) {
    destinations(fleet);
    routes(fleet);
    if (!fleet.unrouted().isEmpty()) {
      screen.line("");
      screen.line(screen.paint(Colour.BAD, "No living relay has a route for "), unrouted(fleet));
    }
  }

  /** The first topics without a route, as text. */
  static String unrouted(Fleet.State fleet) {
    String first =
        fleet.unrouted().stream()
            .limit(UNROUTED_MAX)
            .map(Route::toString)
            .collect(Collectors.joining(", "));
    int more = fleet.unrouted().size() - UNROUTED_MAX;
    return more > 0 ? first + " and " + more + " more" : first;
  }

  private void destinations(Fleet.State fleet) {
    Table table = new Table("destination", "type", "breaker", "open targets", "relay");
    for (LiveRelay relay : fleet.living()) {
      for (Served served : relay.destinations()) {
        table.row(
            served.closed() ? null : Colour.BAD,
            served.name(),
            served.type(),
            served.breaker(),
            served.openTargets() == 0 ? "" : Words.count(served.openTargets()),
            relay.name());
      }
    }
    table(table);
  }

  private void routes(Fleet.State fleet) {
    Table table = new Table("route", "destination", "relay");
    int rows = 0;
    for (LiveRelay relay : fleet.living()) {
      for (ServedRoute route : relay.routes()) {
        if (rows++ < ROUTES_MAX) {
          table.row(route.route().toString(), route.destination(), relay.name());
        }
      }
    }
    table(table);
    if (rows > ROUTES_MAX) {
      screen.line("… and " + (rows - ROUTES_MAX) + " more routes");
    }
  }

  private void table(Table table) {
    if (!table.isEmpty()) {
      screen.line("");
      screen.table(table);
    }
  }

  static Map<String, Object> json(Route route) {
    return fields(route).map();
  }

  private static Fields fields(Route route) {
    return new Fields()
        .with("namespace", route.namespace())
        .with("topic", route.topic())
        .with("subscription", MessageView.named(route));
  }

  static Map<String, Object> json(LiveRelay relay) {
    return new Fields()
        .with("name", relay.name())
        .with("instance", relay.instance())
        .with("version", relay.version())
        .with("host", relay.host())
        .with("pid", relay.pid())
        .with("started_at", relay.startedAt())
        .with("seen_seconds_ago", relay.sinceSeen().toSeconds())
        .with("lost", relay.lost())
        .with("in_flight", relay.inFlight())
        .with("leases", relay.leases())
        .with("destinations", relay.destinations().stream().map(FleetTables::json).toList())
        .with("routes", relay.routes().stream().map(FleetTables::json).toList())
        .map();
  }

  private static Map<String, Object> json(Served served) {
    return new Fields()
        .with("name", served.name())
        .with("type", served.type())
        .with("breaker", served.breaker())
        .with("open_targets", served.openTargets())
        .map();
  }

  private static Map<String, Object> json(ServedRoute route) {
    return fields(route.route()).with("destination", route.destination()).map();
  }
}
