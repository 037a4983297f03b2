package dev.postrider.bench.peer;

import java.util.concurrent.ThreadLocalRandom;

/**
 * JSON of 500 bytes as an order event might have it; no two alike, so that nothing compresses away.
 */
public final class Payload {
  public static final int BYTES = 500;

  /** The same in SQL: order g - 1 for a row {@code g}, counted from 1, of generate_series. */
  public static final String SQL =
      """
      format('{"order":%s,"customer":"c-%s","currency":"EUR","total":%s,"note":"%s"}',
        999999999999 + g, lpad((g % 10000)::text, 5, '0'), 10000 + g % 90000,
        left(repeat(md5(g::text), 14), 417))
      """;

  private static final long BASE = 1_000_000_000_000L;
  private static final int NUMBER_START = "{\"order\":".length();
  private static final int NUMBER_END = NUMBER_START + Long.toString(BASE).length();
  private static final String HEX = "0123456789abcdef";

  private Payload() {}

  public static String json(long order) {
    StringBuilder json = new StringBuilder(BYTES);
    json.append("{\"order\":").append(BASE + order);
    json.append(",\"customer\":\"c-").append(10_000 + order % 10_000);
    json.append("\",\"currency\":\"EUR\",\"total\":").append(10_000 + order % 90_000);
    json.append(",\"note\":\"");
    ThreadLocalRandom random = ThreadLocalRandom.current();
    while (json.length() < BYTES - 2) {
      json.append(HEX.charAt(random.nextInt(16)));
    }
    return json.append("\"}").toString();
  }

  /** The order's number, of a payload from here or from {@link #SQL}. */
  public static long order(String json) {
    return Long.parseLong(json, NUMBER_START, NUMBER_END, 10) - BASE;
  }
}
