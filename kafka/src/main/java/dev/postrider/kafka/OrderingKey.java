package dev.postrider.kafka;

import dev.postrider.message.Message;
import org.jspecify.annotations.Nullable;

/** What messages are kept in order by: keys of different namespaces are different. Immutable. */
record OrderingKey(String namespace, String key) {
  /** Null if the message has no key. */
  static @Nullable OrderingKey of(Message message) {
    String key = message.key();
    return key == null ? null : new OrderingKey(message.route().namespace(), key);
  }

  /** One of so many, always the same. */
  int slot(int slots) {
    int hash = hashCode() * 0x9E3779B9; // the partitioner uses the low bits of another hash
    return Math.floorMod(hash >>> 8, slots);
  }
}
