package dev.postrider.examples.chat;

import dev.postrider.internal.text.Json;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.relay.MessageCheck;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Holds back what contains a word of the list: it stays in the history, and its event is a dead
 * letter until a moderator sends it again or discards it. Thread-safe.
 */
final class Moderation implements MessageCheck {
  static final String CODE = "moderated";

  private final Set<String> words = ConcurrentHashMap.newKeySet();

  Moderation(Set<String> words) {
    this.words.addAll(words);
  }

  /** From now on it may be said. */
  void allow(String word) {
    words.remove(word);
  }

  @Override
  public @Nullable Outcome refuse(Message message) {
    String text = Json.read(message.text()).getOrDefault("text", "").toLowerCase(Locale.ROOT);
    return words.stream()
        .filter(text::contains)
        .findFirst()
        .map(word -> Outcome.terminal(CODE, "it says " + word))
        .orElse(null);
  }
}
