package dev.postrider.relay;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.protocol.SubscriptionName;
import dev.postrider.message.PostriderException;
import dev.postrider.observe.RelayListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The destinations and routes that a builder was given, before they are checked. */
final class RelayParts {
  private final Map<String, Planned> destinations = new LinkedHashMap<>();
  private final List<PlannedRoute> routes = new ArrayList<>();

  private record Planned(Destination destination, DestinationOptions options) {}

  /**
   * A route to a destination that may not exist.
   *
   * @param subscription empty for the default subscription
   */
  record PlannedRoute(
      String namespace,
      String topic,
      String subscription,
      String destination,
      RouteOptions options) {
    PlannedRoute {
      subscription = SubscriptionName.of(subscription);
    }

    private String name() {
      return namespace + "/" + topic + (subscription.isEmpty() ? "" : "#" + subscription);
    }

    private boolean named() {
      return !subscription.isEmpty();
    }

    private boolean exact() {
      return !namespace.equals(RouteBinding.ANY) && !topic.equals(RouteBinding.ANY);
    }
  }

  void destination(String name, Destination destination, DestinationOptions options) {
    if (destinations.putIfAbsent(name, new Planned(destination, options)) != null) {
      throw new PostriderException("destination '" + name + "' is given twice");
    }
  }

  void route(PlannedRoute route) {
    routes.add(route);
  }

  /** Reports everything that is wrong in one error. */
  void check() {
    List<String> wrong = new ArrayList<>();
    if (routes.isEmpty()) {
      wrong.add("there is no route; give at least one with route(namespace, topic, destination)");
    }
    Set<String> named = new HashSet<>();
    for (PlannedRoute route : routes) {
      if (!destinations.containsKey(route.destination())) {
        wrong.add(
            "route %s names destination '%s', which is not among %s"
                .formatted(route.name(), route.destination(), destinations.keySet()));
      }
      if (route.named() && !route.exact()) {
        wrong.add(
            "subscription %s has no exact topic; name the namespace and the topic, without *"
                .formatted(route.name()));
      }
      SubscriptionName.problem(route.subscription())
          .ifPresent(problem -> wrong.add("subscription %s: %s".formatted(route.name(), problem)));
      if (route.named() && !named.add(route.name())) {
        wrong.add("subscription %s is given twice".formatted(route.name()));
      }
    }
    destinations.forEach((name, planned) -> checkTimeout(name, planned, wrong));
    if (!wrong.isEmpty()) {
      throw new PostriderException("relay: " + String.join("; ", wrong));
    }
  }

  private static void checkTimeout(String name, Planned planned, List<String> wrong) {
    Duration timeout = planned.options().timeout();
    Duration answersWithin = planned.destination().answersWithin();
    if (timeout.compareTo(answersWithin) <= 0) {
      wrong.add(
          "destination '%s' may take %d ms to answer by its own settings: expected a longer timeout, got %d ms"
              .formatted(name, answersWithin.toMillis(), timeout.toMillis()));
    }
  }

  /** The dispatchers, by name. */
  Map<String, Dispatcher> dispatchers(RelayListener listener) {
    Map<String, Dispatcher> dispatchers = new LinkedHashMap<>();
    destinations.forEach(
        (name, planned) ->
            dispatchers.put(
                name, new Dispatcher(name, planned.destination(), planned.options(), listener)));
    return dispatchers;
  }

  /** The routes, each with its dispatcher. */
  List<RouteBinding> bindings(Map<String, Dispatcher> dispatchers) {
    List<RouteBinding> bindings = new ArrayList<>();
    for (PlannedRoute route : routes) {
      Dispatcher dispatcher = dispatchers.get(route.destination());
      if (dispatcher != null) {
        bindings.add(
            new RouteBinding(
                route.namespace(),
                route.topic(),
                route.subscription(),
                dispatcher,
                route.options().retry(),
                route.options().check()));
      }
    }
    return bindings;
  }
}
