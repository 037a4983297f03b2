package dev.postrider.examples.chat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.examples.stage.Rehearsal;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The example, started as a user starts it: two processes, one of which is killed. */
@Tag("CH-3")
@Tag("CH-10")
class MainTest {
  @Test
  void everythingArrivesOnTheOtherNode() throws Exception {
    assertThat(Rehearsal.of(Main::main, "--seconds", "12"))
        .contains("open in a browser:   http://127.0.0.1:")
        .contains("node B is killed", "node B is back", "moderator: that may be said; 1 sent again")
        .containsPattern("[1-9]\\d posted in acme/lobby: 0 missing here, after [2-9] connections")
        .containsPattern("[1-9] posted in globex/lobby: 0 seen here");
  }
}
