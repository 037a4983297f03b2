package dev.postrider.examples.usagebilling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.examples.stage.Rehearsal;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The example, started as a user starts it: on a PostgreSQL of its own. */
class MainTest {
  @Test
  @Tag("MC-12")
  void itEndsWithBooksThatMatch() throws Exception {
    String printed = Rehearsal.of(Main::main, "--seconds", "8", "--policy", "prepaid");
    assertThat(printed)
        .contains("billed by the policy 'prepaid'")
        .contains("dispatcher 0 killed")
        .contains("they match")
        .doesNotContain("in the end: 0 debits");
  }
}
