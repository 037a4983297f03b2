package dev.postrider.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.PostriderException;
import dev.postrider.testing.TestDatabase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaTest {

  @ParameterizedTest
  @Tag("EN-13")
  @ValueSource(
      strings = {
        "",
        "Outbox",
        "out box",
        "out-box",
        "1st",
        "_x",
        "pg_outbox",
        "public",
        "user",
        "a;b",
        "a\"b",
        "a.b",
        "outböx",
        "information_schema",
        "o2345678901234567890123456789012345678901"
      })
  void aNameThatWouldNeedQuotingOrIsTakenIsRefused(String name) {
    assertThatThrownBy(() -> new Schema(name))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("'" + name + "' is not allowed; use 1 to 40 lower-case letters");
  }

  @Test
  @Tag("EN-13")
  void everyWordThatTheServerReservesIsRefused() {
    assertThat(
            TestDatabase.empty(18)
                .column("select word from pg_get_keywords() where catcode in ('R', 'T')"))
        .hasSizeGreaterThan(90)
        .allSatisfy(
            word ->
                assertThatThrownBy(() -> new Schema(word)).isInstanceOf(PostriderException.class));
  }

  @Test
  @Tag("EN-13")
  void sqlIsRewrittenByWholeWords() {
    assertThat(new Schema("outbox_two").sql("postrider.queue 'postrider' postrider_x"))
        .isEqualTo("outbox_two.queue 'outbox_two' postrider_x");
    assertThat(new Schema("outbox_two").channel()).isEqualTo("outbox_two");
  }
}
