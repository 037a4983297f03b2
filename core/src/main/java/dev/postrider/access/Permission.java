package dev.postrider.access;

import dev.postrider.error.RefusedException;
import java.util.Arrays;
import java.util.stream.Collectors;

/** What a token may do. Roles give some of them, the others are given one by one. Immutable. */
public enum Permission {
  /** See messages, dead letters, keys, relays, audit: all but what a message carries. */
  READ("read"),
  /**
   * See payloads, headers and what receivers answered; in no role, since it is about data and not
   * about operating.
   */
  PAYLOAD_READ("payload:read"),
  /** Follow streams of messages. */
  STREAM("stream"),
  /** Read the metrics. */
  METRICS("metrics"),
  /** Enqueue messages. */
  ENQUEUE("enqueue"),
  /** Requeue, discard, replay, pause, resume, retry, skip. */
  OPERATE("operate"),
  /** Make, list and revoke tokens. */
  TOKENS("tokens");

  private final String label;

  Permission(String label) {
    this.label = label;
  }

  /** Its name in requests, answers and the database. */
  public String label() {
    return label;
  }

  public static Permission of(String label) {
    for (Permission permission : values()) {
      if (permission.label.equals(label)) {
        return permission;
      }
    }
    throw new RefusedException(
        "unknown permission '"
            + label
            + "'; known are "
            + Arrays.stream(values()).map(Permission::label).collect(Collectors.joining(", ")));
  }
}
