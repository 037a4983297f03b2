package dev.postrider.message;

/**
 * Where a message is addressed to: a topic within a namespace. What a relay delivers also has the
 * subscription that it is delivered for. Immutable.
 *
 * @param subscription empty for the topic's default subscription; {@code default} means the same
 */
public record Route(String namespace, String topic, String subscription) {
  public Route {
    if (subscription.equals("default")) {
      subscription = "";
    }
  }

  /** A topic, or its default subscription. */
  public Route(String namespace, String topic) {
    this(namespace, topic, "");
  }

  /** The topic, whatever the subscription. */
  public Route withoutSubscription() {
    return subscription.isEmpty() ? this : new Route(namespace, topic);
  }

  /**
   * Namespace, topic and, if it has a name, the subscription. Two routes never have the same: a
   * slash in the namespace is escaped.
   */
  @Override
  public String toString() {
    String name = namespace.replace("%", "%25").replace("/", "%2F") + "/" + topic;
    return subscription.isEmpty() ? name : name + "#" + subscription;
  }
}
