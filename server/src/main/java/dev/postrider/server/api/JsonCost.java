package dev.postrider.server.api;

/** Tells how much memory it may take to read JSON and to work on what it says. */
final class JsonCost {
  /** The text itself, what is decoded of it, and what is written of it again. */
  private static final long PER_BYTE = 5;

  /** An object or list, or a place in one with what is there. */
  private static final long PER_VALUE = 100;

  private JsonCost() {}

  /** Bytes of memory, as an estimate from above. The text need not be JSON. */
  static long of(byte[] json) {
    long values = 0;
    boolean text = false;
    for (int i = 0; i < json.length; i++) {
      byte b = json[i];
      if (b == '"') {
        text = !text;
      } else if (text && b == '\\') {
        i++; // the next one does not end the string
      } else if (!text && (b == '{' || b == '[' || b == ',' || b == ':')) {
        values++;
      }
    }
    return PER_BYTE * json.length + PER_VALUE * values;
  }
}
