package dev.postrider.examples.memorysync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.examples.stage.Rehearsal;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The example, started as a user starts it: on a PostgreSQL of its own. */
class MainTest {
  @Test
  @Tag("LP-8")
  @Tag("LP-9")
  void itEndsWithEveryNoteSettled() throws Exception {
    String printed = Rehearsal.of(Main::main, "--seconds", "3", "--workers", "2");
    assertThat(printed)
        .contains("2 workers bring notes")
        .containsPattern("outbox_flush_success +[1-9]")
        .contains("none is left");
  }
}
