package dev.postrider.examples.usagebilling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.relay.Relay;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.schema.Schema;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The plug-ins that usage is published to. */
@Tag("MC-10")
@TestInstance(Lifecycle.PER_CLASS)
class QuotaPolicyTest {
  @AutoClose private final Chat chat = new Chat();

  @Test
  void theConfigurationSelectsOneByName() {
    assertThat(QuotaPolicy.named("ledger")).isInstanceOf(LedgerPolicy.class);
    assertThat(QuotaPolicy.named("prepaid")).isInstanceOf(PrepaidPolicy.class);
    assertThatThrownBy(() -> QuotaPolicy.named("postpaid"))
        .hasMessage("expected a quota policy out of [ledger, prepaid], got postpaid");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ledger", "prepaid"})
  void whatIsReplayedChangesNothing(String name) throws Exception {
    UUID tenant = chat.tenant(1_000_000);
    for (int i = 0; i < 5; i++) {
      chat.turns.finish(chat.turn(tenant, "hello"), TurnEnd.completed(1000, 0));
    }
    try (Relay relay = UsageDispatcher.relay(chat.dataSource(), QuotaPolicy.named(name), name)) {
      relay.start();
      chat.untilDelivered();
      List<String> books = books(tenant);
      assertThat(books).hasSize(name.equals("prepaid") ? 6 : 5);
      assertThat(books.get(0)).isEqualTo(name.equals("prepaid") ? "-1000" : "200");

      Replay replay = new Replay(chat.dataSource(), Schema.DEFAULT);
      long job = replay.start("test", ReplayFilter.tenant(tenant.toString())).id();
      assertThat(replay.run("test", job, Pacer.unlimited(), step -> true).requeued()).isEqualTo(5);
      chat.untilDelivered();
      assertThat(books(tenant)).isEqualTo(books);
    }
    assertThat(
            chat.database.count(
                "select count(*) from postrider.attempt_history a"
                    + " join postrider.message m on m.id = a.message_id"
                    + (" where a.state = 'DISPATCHED' and m.tenant = '" + tenant + "'")))
        .as("delivered twice each")
        .isEqualTo(10);
  }

  private List<String> books(UUID tenant) {
    return chat.database.column(
        """
        select balance from billing.account where tenant = '%1$s'
        union all select credits from billing.ledger where tenant = '%1$s' order by 1
        """
            .formatted(tenant));
  }
}
