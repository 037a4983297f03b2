package dev.postrider.cli.config;

import dev.postrider.cli.settings.Section;
import dev.postrider.internal.protocol.SubscriptionName;
import dev.postrider.message.Backoff;
import dev.postrider.message.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Reads {@code routes}, and {@code retry}, which holds for each that says nothing else. */
final class Routes {
  private Routes() {}

  static List<RouteConfig> read(Section root, List<DestinationConfig> destinations) {
    RetryPolicy usual = retry(root, RetryPolicy.DEFAULT);
    Set<String> names = new TreeSet<>();
    destinations.forEach(destination -> names.add(destination.name()));
    Set<String> served = new HashSet<>();
    List<RouteConfig> routes = new ArrayList<>();
    for (Section item : root.items("routes")) {
      try (item) {
        RouteConfig route = route(item, usual, names);
        if (!served.add(route.namespace() + "/" + route.topic() + "#" + route.subscription())) {
          item.problem(
              "topic",
              "another route serves this namespace and topic already; give each route its own"
                  + " subscription if both should get every message");
        }
        routes.add(route);
      }
    }
    return routes;
  }

  private static RouteConfig route(Section section, RetryPolicy usual, Set<String> names) {
    String namespace = name(section, "namespace", section.required("namespace"));
    String topic = name(section, "topic", section.text("topic", RouteConfig.ANY));
    String subscription = SubscriptionName.of(section.text("subscription", ""));
    SubscriptionName.problem(subscription)
        .ifPresent(problem -> section.problem("subscription", problem));
    if (!subscription.isEmpty()
        && (namespace.equals(RouteConfig.ANY) || topic.equals(RouteConfig.ANY))) {
      section.problem(
          "subscription", "expected a route with an exact namespace and topic, without *");
    }
    String destination = section.required("destination");
    if (!destination.isEmpty() && !names.contains(destination)) {
      section.problem(
          "destination",
          "there is no destination \"%s\"; there are %s"
              .formatted(destination, names.isEmpty() ? "none" : String.join(", ", names)));
    }
    return new RouteConfig(namespace, topic, subscription, destination, retry(section, usual));
  }

  private static String name(Section section, String key, String given) {
    if (given.contains("*") && !given.equals(RouteConfig.ANY)) {
      section.problem(key, "expected a whole name, or * for all, got \"" + given + "\"");
    }
    return given;
  }

  private static RetryPolicy retry(Section parent, RetryPolicy usual) {
    Backoff backoff = usual.backoff();
    Duration longest = Duration.ofDays(30);
    try (Section section = parent.section("retry")) {
      int attempts = section.number("max-attempts", usual.maxAttempts(), 1, 30_000);
      Duration base =
          section.duration("backoff-base", backoff.base(), Duration.ofMillis(1), longest);
      Duration max = section.duration("backoff-max", backoff.max(), Duration.ofMillis(1), longest);
      double jitter = section.fraction("backoff-jitter", backoff.jitter());
      RetryPolicy.DeadPolicy onDead = section.choice("on-dead", usual.onDead());
      if (max.compareTo(base) < 0) {
        section.problem("backoff-max", "expected at least backoff-base");
        return usual;
      } else if (!(jitter >= 0 && jitter < 1)) {
        section.problem("backoff-jitter", "expected a number from 0 to below 1, got " + jitter);
        return usual;
      }
      return new RetryPolicy(new Backoff(base, max, jitter), attempts, onDead);
    }
  }
}
