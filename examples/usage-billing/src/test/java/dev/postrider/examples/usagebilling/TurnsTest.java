package dev.postrider.examples.usagebilling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.enqueue.Outbox;
import dev.postrider.internal.text.Json;
import dev.postrider.schema.Schema;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** The end of a turn, its debit and its message. */
@TestInstance(Lifecycle.PER_CLASS)
class TurnsTest {
  private static final int RACERS = 6;

  @AutoClose private final Chat chat = new Chat();
  private final UUID tenant = chat.tenant(1_000_000);

  private long debits(UUID turn) {
    return chat.database.count(Chat.DEBITS + " where turn = '" + turn + "'");
  }

  private String settled(UUID turn) {
    return chat.database
        .column(
            "select concat_ws(' ', state, input_tokens, output_tokens, credits) from mini_chat.turn"
                + (" where id = '" + turn + "'"))
        .get(0);
  }

  @Test
  @Tag("MC-7")
  void ofManyFinalizersOneSettlesAndTheOthersDoNothing() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(RACERS);
    try {
      for (int round = 0; round < 10; round++) {
        UUID turn = chat.turn(tenant, "hello");
        long before = chat.used(tenant);
        assertThat(race(threads, turn)).containsOnlyOnce(true).hasSize(RACERS);
        assertThat(debits(turn)).isEqualTo(1);
        assertThat(chat.usage(turn)).hasSize(1);
        assertThat(settled(turn)).endsWith(" " + (chat.used(tenant) - before));
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private List<Boolean> race(ExecutorService threads, UUID turn) throws Exception {
    CyclicBarrier together = new CyclicBarrier(RACERS);
    List<Callable<Boolean>> racers = new ArrayList<>();
    for (int i = 0; i < RACERS; i++) {
      TurnEnd end = i % 2 == 0 ? TurnEnd.completed(10, 100 + i) : TurnEnd.cancelled();
      racers.add(
          () -> {
            together.await(20, TimeUnit.SECONDS);
            return chat.turns.finish(turn, end);
          });
    }
    List<Boolean> won = new ArrayList<>();
    for (Future<Boolean> racer : threads.invokeAll(racers)) {
      won.add(racer.get());
    }
    return won;
  }

  @Test
  @Tag("MC-7")
  void ifTheMessageCannotBeLeftNothingIsSettled() throws Exception {
    UUID turn = chat.turn(tenant, "hello");
    long before = chat.used(tenant);
    Turns broken = new Turns(chat.dataSource(), new Outbox(new Schema("nowhere")));
    assertThatThrownBy(() -> broken.finish(turn, TurnEnd.completed(1, 1)))
        .isInstanceOf(SQLException.class);
    assertThat(settled(turn)).isEqualTo("streaming");
    assertThat(debits(turn)).isZero();
    assertThat(chat.used(tenant)).isEqualTo(before);
    assertThat(chat.turns.finish(turn, TurnEnd.completed(1, 1))).as("later it can").isTrue();
  }

  @Test
  @Tag("MC-8")
  void completedAndFailedTurnsSettleWhatTheProviderCounted() throws Exception {
    UUID completed = chat.turn(tenant, "hello");
    UUID failed = chat.turn(tenant, "hello");
    chat.turns.finish(completed, TurnEnd.completed(1000, 2000));
    chat.turns.finish(failed, TurnEnd.failed(1000, 1));
    assertThat(settled(completed)).isEqualTo("completed 1000 2000 1400");
    assertThat(settled(failed)).as("rounded up").isEqualTo("failed 1000 1 201");
    assertThat(chat.usage(completed)).hasSize(1);
    assertThat(chat.usage(failed)).hasSize(1);
  }

  @Test
  @Tag("MC-8")
  void cancelledTurnsSettleAnEstimateWithABound() throws Exception {
    UUID early = chat.turn(tenant, "x".repeat(400));
    UUID late = chat.turn(tenant, "x".repeat(400));
    chat.database.execute("update mini_chat.turn set streamed = 10 where id = '" + early + "'");
    chat.database.execute("update mini_chat.turn set streamed = 9999 where id = '" + late + "'");
    chat.turns.finish(early, TurnEnd.cancelled());
    chat.turns.finish(late, TurnEnd.cancelled());
    assertThat(settled(early)).isEqualTo("cancelled 101 10 27");
    assertThat(settled(late)).as("800 are allowed").isEqualTo("cancelled 101 800 501");
    assertThat(debits(early) + debits(late)).isEqualTo(2);
    assertThat(chat.usage(late)).hasSize(1);
  }

  @Test
  @Tag("MC-9")
  void theMessageHoldsWhatBillingNeedsAndNothingElse() throws Exception {
    UUID turn = chat.turns.begin(tenant, "ann", "my secret question").orElseThrow();
    chat.database.execute("update mini_chat.turn set provider_id = 'resp_123'");
    chat.turns.finish(turn, TurnEnd.completed(12, 34));
    String request =
        chat.database.column("select request from mini_chat.turn where id = '" + turn + "'").get(0);
    String expected =
        """
        {"tenant_id": "%s", "turn_id": "%s", "request_id": "%s", "user_id": "ann",
         "outcome": "completed", "effective_model": "chat-large", "policy_version_applied": 7,
         "input_tokens": 12, "output_tokens": 34, "credits": 23}
        """
            .formatted(tenant, turn, request);
    String usage = chat.usage(turn).get(0);
    assertThat(chat.database.column("select '%s'::jsonb = '%s'".formatted(usage, expected)))
        .as(usage)
        .containsExactly("t");
    assertThat(
            chat.database.column(
                "select tenant || ' ' || dedupe_key from postrider.message where aggregate_id = '%s'"
                    .formatted(turn)))
        .containsExactly(tenant + " " + tenant + "/" + turn + "/" + request);
  }

  @Test
  @Tag("MC-9")
  void withoutAUserThereIsNone() throws Exception {
    UUID turn = chat.turn(tenant, "hello");
    chat.turns.finish(turn, TurnEnd.cancelled());
    assertThat(Json.read(chat.usage(turn).get(0))).doesNotContainKey("user_id");
  }

  @Test
  void withoutQuotaNoTurnBegins() throws Exception {
    UUID poor = chat.tenant(1);
    UUID turn = chat.turn(poor, "hello");
    chat.turns.finish(turn, TurnEnd.completed(1000, 0));
    assertThat(chat.used(poor)).isEqualTo(200);
    assertThat(chat.turns.begin(poor, null, "hello")).isEmpty();
  }
}
