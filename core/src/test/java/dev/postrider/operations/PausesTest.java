package dev.postrider.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.RefusedException;
import dev.postrider.operations.Pauses.Kind;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import org.junit.jupiter.api.Test;

class PausesTest {
  private final TestDatabase database = TestDatabase.create();
  private final Pauses pauses = new Pauses(database.dataSource(), Schema.DEFAULT);

  @Test
  void pausesOnceResumesOnceAndRecordsWho() throws Exception {
    assertThat(pauses.pause("ann", Kind.TOPIC, "shop/orders")).isTrue();
    assertThat(pauses.pause("bob", Kind.TOPIC, "shop/orders")).isFalse();
    assertThat(pauses.pause("ann", Kind.DESTINATION, "rail", true)).isTrue();
    assertThat(pauses.list())
        .extracting(pause -> pause.kind() + " " + pause.name() + " " + pause.pausedBy())
        .containsExactly("DESTINATION rail ann", "TOPIC shop/orders ann");
    assertThat(pauses.resume("bob", Kind.TOPIC, "shop/orders")).isTrue();
    assertThat(pauses.resume("bob", Kind.TOPIC, "shop/orders")).isFalse();
    assertThat(pauses.list()).hasSize(1);
    assertThat(
            database.column(
                "select actor || ' ' || action from postrider.audit where detail->>'kind' = 'topic'"
                    + " order by id"))
        .containsExactly("ann pause", "bob pause", "bob resume");
  }

  @Test
  void refusesWhatCannotBePaused() {
    assertThatThrownBy(() -> pauses.pause("ann", Kind.TOPIC, "orders"))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("namespace/topic");
    assertThatThrownBy(() -> pauses.pause(" ", Kind.DESTINATION, "rail"))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("actor");
  }
}
