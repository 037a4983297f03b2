package dev.postrider.bench;

import java.util.concurrent.ThreadLocalRandom;

/**
 * JSON of 500 bytes as an order event might have it; no two alike, so that nothing compresses away.
 */
final class Payload {
  static final int BYTES = 500;

  /** The same in SQL, for a row {@code g} of generate_series. */
  static final String SQL =
      """
      format('{"order":%s,"customer":"c-%s","currency":"EUR","total":%s,"note":"%s"}',
        lpad(g::text, 12, '1'), lpad((g % 10000)::text, 5, '0'), 10000 + g % 90000,
        left(repeat(md5(g::text), 14), 418))
      """;

  private static final String HEX = "0123456789abcdef";

  private Payload() {}

  static String json(long order) {
    StringBuilder json = new StringBuilder(BYTES);
    json.append("{\"order\":").append(1_000_000_000_000L + order);
    json.append(",\"customer\":\"c-").append(10_000 + order % 10_000);
    json.append("\",\"currency\":\"EUR\",\"total\":").append(10_000 + order % 90_000);
    json.append(",\"note\":\"");
    ThreadLocalRandom random = ThreadLocalRandom.current();
    while (json.length() < BYTES - 2) {
      json.append(HEX.charAt(random.nextInt(16)));
    }
    return json.append("\"}").toString();
  }
}
