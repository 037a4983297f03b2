package dev.postrider.examples.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.examples.stage.Rehearsal;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The example, started as a user starts it: on a PostgreSQL of its own. */
class MainTest {
  @Test
  @Tag("PO-1")
  void itEndsWithACleanAudit() throws Exception {
    String printed = Rehearsal.of(Main::main, "--seconds", "4", "--participants", "20");
    assertThat(printed)
        .contains("20 participants pay")
        .contains(" 0 waiting; ")
        .contains("audit: sequences without a gap, one success per instruction, all in order");
  }
}
