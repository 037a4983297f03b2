package dev.postrider.spring;

import dev.postrider.message.NewMessage;
import java.util.List;
import java.util.function.Function;

/** Surrounds a publish, for tracing. Adds nothing unless overridden. Thread-safe. */
interface PublishScope {
  /** Adds nothing. */
  PublishScope NONE = new PublishScope() {};

  /**
   * Calls the function with the messages, or with copies that carry more headers.
   *
   * @param write writes the messages
   */
  default <T> T run(List<NewMessage> messages, Function<List<NewMessage>, T> write) {
    return write.apply(messages);
  }
}
