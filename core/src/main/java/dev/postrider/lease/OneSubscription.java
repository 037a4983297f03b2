package dev.postrider.lease;

import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a worker has claimed from: of each topic one subscription, since it settles a message by its
 * id. Thread-safe.
 */
final class OneSubscription {
  private final String worker;
  private final Map<Route, String> topics = new ConcurrentHashMap<>();
  private final Set<String> namespaces = ConcurrentHashMap.newKeySet();

  OneSubscription(String worker) {
    this.worker = worker;
  }

  /** Refuses a second subscription of a topic. */
  void check(Collection<Route> routes) {
    for (Route route : routes) {
      String before = topics.putIfAbsent(route.withoutSubscription(), route.subscription());
      if (before == null && namespaces.contains(route.namespace())) {
        before = "";
      }
      if (before != null && !before.equals(route.subscription())) {
        throw refused(route.withoutSubscription(), before, route.subscription());
      }
    }
  }

  /** The default subscription of all topics of a namespace. */
  void check(String namespace) {
    namespaces.add(namespace);
    topics.forEach(
        (topic, subscription) -> {
          if (topic.namespace().equals(namespace) && !subscription.isEmpty()) {
            throw refused(topic, subscription, "");
          }
        });
  }

  private PostriderException refused(Route topic, String one, String other) {
    return new PostriderException(
        ("worker %s claims from two subscriptions of %s, %s and %s, but it settles a message by its"
                + " id; use a LeaseStore with another worker name for each subscription")
            .formatted(worker, topic, shown(one), shown(other)));
  }

  private static String shown(String subscription) {
    return subscription.isEmpty() ? "default" : subscription;
  }
}
