package dev.postrider.message;

import org.jspecify.annotations.Nullable;

/**
 * What PostgreSQL's text cannot hold. The driver would replace half a surrogate pair by a question
 * mark without a word, which makes two keys one; the server answers U+0000 with an error that names
 * no field. Thread-safe.
 */
final class Text {
  private Text() {}

  static void check(String field, @Nullable String text) {
    if (text == null) {
      return;
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0) {
        throw new InvalidMessageException(
            field, field + " holds the character U+0000 at " + i + "; PostgreSQL cannot store it");
      }
      if (Character.isSurrogate(c)) {
        if (i + 1 == text.length() || !Character.isSurrogatePair(c, text.charAt(i + 1))) {
          throw new InvalidMessageException(
              field, field + " holds half a surrogate pair at " + i + "; it is not valid Unicode");
        }
        i++;
      }
    }
  }
}
