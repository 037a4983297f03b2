package dev.postrider.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testing.TestDatabase;
import org.junit.jupiter.api.Test;

/** The values that Java and SQL share are the same on both sides. */
class ProtocolTest {
  private final TestDatabase database = TestDatabase.create();

  @Test
  void claims() {
    assertThat(database.count("select postrider.suspect_after()"))
        .isEqualTo(Protocol.SUSPECT_AFTER);
    assertThat(database.count("select postrider.full_share()")).isEqualTo(Protocol.FULL_SHARE);
  }

  @Test
  void keysOfSubscriptions() {
    for (long key : new long[] {1, 2, 3, 1_000_000_007L}) {
      assertThat(database.count("select postrider.subscription_key(%d, 3)".formatted(key)))
          .isEqualTo(Protocol.key(key, 3));
      assertThat(
              database.count(
                  "select postrider.plain_key(postrider.subscription_key(%d, 8388607))"
                      .formatted(key)))
          .isEqualTo(key);
    }
  }

  @Test
  void usualMessages() {
    int payload = Protocol.FAST_PAYLOAD;
    assertThat(fits("'\"' || repeat('x', %d) || '\"'".formatted(payload - 2), "'k'", "null"))
        .isTrue();
    assertThat(fits("'\"' || repeat('x', %d) || '\"'".formatted(payload - 1), "'k'", "null"))
        .isFalse();
    int names = Protocol.FAST_NAMES;
    assertThat(fits("'{}'", "repeat('k', %d)".formatted(names), "null")).isTrue();
    assertThat(fits("'{}'", "repeat('k', %d)".formatted(names + 1), "null")).isFalse();
    int headers = Protocol.FAST_HEADERS - "{\"a\": \"\"}".length();
    String object = "jsonb_build_object('a', repeat('x', %d))";
    assertThat(fits("'{}'", "'k'", object.formatted(headers))).isTrue();
    assertThat(fits("'{}'", "'k'", object.formatted(headers + 1))).isFalse();
  }

  private boolean fits(String payload, String key, String headers) {
    return database
        .value(
            "select postrider.fits_fast_path(%s, %s, null, null, null, null, null, %s)"
                .formatted(payload, key, headers))
        .equals("t");
  }
}
