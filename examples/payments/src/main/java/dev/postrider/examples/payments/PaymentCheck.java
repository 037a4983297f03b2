package dev.postrider.examples.payments;

import dev.postrider.internal.text.Json;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.relay.MessageCheck;
import java.util.ArrayList;
import java.util.Currency;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The last look before money moves: what it refuses is dead at once and never sent. Thread-safe.
 */
record PaymentCheck(Rail rail) implements MessageCheck {
  static final String INVALID = "invalid_instruction";

  /** Of ISO 4217, without those that nobody pays in, such as gold and "no currency". */
  private static final Set<String> CURRENCIES =
      Currency.getAvailableCurrencies().stream()
          .filter(currency -> currency.getDefaultFractionDigits() >= 0)
          .map(Currency::getCurrencyCode)
          .collect(Collectors.toSet());

  @Override
  public @Nullable Outcome refuse(Message message) {
    Map<String, String> payment = Json.read(message.text());
    List<String> wrong = new ArrayList<>();
    String amount = payment.getOrDefault("amount", "");
    if (!amount.matches("[1-9]\\d{0,14}")) {
      wrong.add("amount: expected a positive number of minor units, got '" + amount + "'");
    }
    String currency = payment.getOrDefault("currency", "");
    if (!CURRENCIES.contains(currency)) {
      wrong.add("currency: expected a code of ISO 4217, got '" + currency + "'");
    }
    String destination = payment.getOrDefault("destination", "");
    if (!rail.reaches(destination)) {
      wrong.add("destination: expected " + rail.destinations() + ", got '" + destination + "'");
    }
    return wrong.isEmpty() ? null : Outcome.terminal(INVALID, String.join("; ", wrong));
  }
}
