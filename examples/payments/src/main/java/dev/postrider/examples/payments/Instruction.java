package dev.postrider.examples.payments;

import dev.postrider.internal.text.Json;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Pays somebody for a participant.
 *
 * @param amount in the currency's minor units
 */
record Instruction(
    String id, String participant, Rail rail, long amount, String currency, String destination) {

  /** Amounts travel as text: no reader takes them for floating point. */
  String json() {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("instruction", id);
    fields.put("amount", Long.toString(amount));
    fields.put("currency", currency);
    fields.put("destination", destination);
    return Json.write(fields);
  }
}
