package dev.postrider.examples.payments;

import dev.postrider.message.RetryPolicy.DeadPolicy;
import java.math.BigInteger;
import java.util.Locale;

/** The ways on which money goes. */
enum Rail {
  /** Bank transfers. When one fails for good, the participant waits for an operator. */
  SEPA(8, DeadPolicy.BLOCK, "a valid IBAN"),
  /** A wallet provider, by webhook. When one fails for good, the next one goes. */
  WALLET(2, DeadPolicy.SKIP, "a phone number like +4915112345678");

  private final int cap;
  private final DeadPolicy onDead;
  private final String destinations;

  Rail(int cap, DeadPolicy onDead, String destinations) {
    this.cap = cap;
    this.onDead = onDead;
    this.destinations = destinations;
  }

  String topic() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Payments under way at a time, per relay. */
  int cap() {
    return cap;
  }

  DeadPolicy onDead() {
    return onDead;
  }

  /** What destinations look like here. */
  String destinations() {
    return destinations;
  }

  boolean reaches(String destination) {
    return switch (this) {
      case SEPA -> isIban(destination);
      case WALLET -> isPhone(destination);
    };
  }

  private static boolean isPhone(String text) {
    return text.matches("\\+[1-9]\\d{6,14}");
  }

  /** Form and check digits of ISO 13616. */
  private static boolean isIban(String text) {
    if (!text.matches("[A-Z]{2}\\d{2}[A-Z0-9]{11,30}")) {
      return false;
    }
    StringBuilder digits = new StringBuilder();
    (text.substring(4) + text.substring(0, 4))
        .chars()
        .forEach(c -> digits.append(Character.digit(c, 36)));
    return new BigInteger(digits.toString()).mod(BigInteger.valueOf(97)).intValue() == 1;
  }
}
