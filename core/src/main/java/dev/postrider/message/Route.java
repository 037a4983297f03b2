package dev.postrider.message;

/** Where a message is addressed to: a topic within a namespace. */
public record Route(String namespace, String topic) {
  /** Namespace and topic. Two routes never have the same: a slash in the namespace is escaped. */
  @Override
  public String toString() {
    return namespace.replace("%", "%25").replace("/", "%2F") + "/" + topic;
  }
}
