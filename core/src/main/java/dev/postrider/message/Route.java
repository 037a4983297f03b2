package dev.postrider.message;

/** Where a message is addressed to: a topic within a namespace. */
public record Route(String namespace, String topic) {
  @Override
  public String toString() {
    return namespace + "/" + topic;
  }
}
