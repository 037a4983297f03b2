package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.server.Desk.Answer;
import java.sql.Connection;
import java.sql.Statement;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Subscriptions over HTTP. */
@Tag("EN-23")
class SubscriptionCallsTest {
  private static final String MAIL = "\"topic\": \"orders\", \"subscription\": \"mail\"";

  @AutoClose private final Desk desk = Desk.open();

  private Answer act(String path, String fields) {
    return desk.post(desk.operator, path, "{\"namespace\": \"shop\", " + fields + "}");
  }

  private boolean changed(String path, String fields) {
    Answer answer = act(path, fields);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer.json().get("changed").booleanValue();
  }

  private JsonNode items(String path) {
    return desk.get(desk.viewer, path).json().get("items");
  }

  private JsonNode message(UUID id) {
    return desk.get(desk.viewer, "/v1/messages/" + id).json();
  }

  /** Enqueues, fans out and settles the deliveries of one subscription, or of all. */
  private UUID sent(String key) {
    UUID id = desk.enqueue("'shop', 'orders', key => '" + key + "'");
    fanOut();
    return id;
  }

  private void fanOut() {
    desk.postgres.column(
        "select again from postrider.fan_out(array(select id from postrider.route), 1000, '{}')");
  }

  /** 1 delivered, 3 dead, 4 dead and blocking its key. */
  private void settle(String subscription, int outcome) {
    desk.postgres.column(
        """
        with claimed as materialized (
          select * from postrider.claim(postrider.worker_id('courier'), 1000, 1000000000, 60000,
            array(select id from postrider.route where subscription = '%s')))
        select postrider.settle(postrider.worker_id('courier'), array_agg(id), array_agg(token),
                 array_agg(%d::smallint), null, null, array_agg('broken'::text), array_agg('it broke'::text))
          from claimed having count(*) > 0
        """
            .formatted(subscription, outcome));
  }

  @Test
  void subscriptionsAreAddedListedAndRemoved() {
    assertThat(items("/v1/subscriptions")).isEmpty();
    assertThat(changed("/v1/subscriptions", MAIL)).isTrue();
    assertThat(changed("/v1/subscriptions", MAIL)).isFalse();
    desk.enqueue("'shop', 'orders'");
    fanOut();
    JsonNode mail = items("/v1/subscriptions").get(1);
    assertThat(mail.get("namespace").stringValue()).isEqualTo("shop");
    assertThat(mail.get("topic").stringValue()).isEqualTo("orders");
    assertThat(mail.get("subscription").stringValue()).isEqualTo("mail");
    assertThat(mail.get("active").booleanValue()).isTrue();
    assertThat(mail.get("pending").intValue()).isEqualTo(1);
    JsonNode added = items("/v1/audit?limit=1").get(0);
    assertThat(added.get("action").stringValue()).isEqualTo("subscription.add");
    assertThat(added.get("actor").stringValue()).startsWith("operator-");
    assertThat(added.get("detail").get("subscription").stringValue()).isEqualTo("mail");

    JsonNode removed = act("/v1/subscriptions/remove", MAIL).json();
    assertThat(removed.get("changed").booleanValue()).isTrue();
    assertThat(removed.get("pending").intValue()).isEqualTo(1);
    assertThat(removed.get("pending_at_least").booleanValue()).isFalse();
    assertThat(act("/v1/subscriptions/remove", MAIL).json().get("changed").booleanValue())
        .isFalse();
    assertThat(items("/v1/subscriptions").get(1).get("active").booleanValue()).isFalse();
    assertThat(items("/v1/audit?limit=1").get(0).get("action").stringValue())
        .isEqualTo("subscription.remove");
    assertThat(
            act("/v1/subscriptions", "\"topic\": \"orders\", \"subscription\": \"a b\"").status())
        .isEqualTo(422);
    assertThat(
            act("/v1/subscriptions/remove", "\"topic\": \"none\", \"subscription\": \"x\"")
                .status())
        .isEqualTo(422);
  }

  @Test
  void aLongTransactionOfAProducerIsAConflict() throws Exception {
    try (Connection producer = desk.postgres.dataSource().getConnection();
        Statement statement = producer.createStatement()) {
      producer.setAutoCommit(false);
      statement.execute("select postrider.enqueue('shop', 'orders', '{}')");
      Answer refused = act("/v1/subscriptions", MAIL);
      assertThat(refused.status()).isEqualTo(409);
      assertThat(refused.text()).contains("nothing was changed");
      producer.commit();
    }
    assertThat(changed("/v1/subscriptions", MAIL)).isTrue();
  }

  @Test
  void aSubscriptionIsPausedAndResumed() {
    String mail = MAIL.replace("orders", "a/b");
    String inSlash = "{\"namespace\": \"sh/op\", " + mail + "}";
    desk.post(desk.operator, "/v1/subscriptions", inSlash);
    Answer paused = desk.post(desk.operator, "/v1/subscriptions/pause", inSlash);
    assertThat(paused.status()).as(paused.text()).isEqualTo(200);
    JsonNode shown = items("/v1/subscriptions").get(1);
    assertThat(shown.get("paused").booleanValue()).isTrue();
    assertThat(shown.get("paused_by").stringValue()).startsWith("operator-");
    assertThat(items("/v1/subscriptions").get(0).get("paused").booleanValue()).isFalse();
    String none = "\"topic\": \"orders\", \"subscription\": \"none\"";
    assertThat(act("/v1/subscriptions/pause", none).status()).isEqualTo(422);
    assertThat(desk.post(desk.operator, "/v1/subscriptions/resume", inSlash).status())
        .isEqualTo(200);
    assertThat(items("/v1/subscriptions").get(1).get("paused").booleanValue()).isFalse();
  }

  @Test
  void aMessageHasALineForEachDelivery() {
    act("/v1/subscriptions", MAIL);
    UUID waiting = desk.enqueue("'shop', 'orders', key => 'k'");
    assertThat(message(waiting).get("deliveries")).as("not fanned out yet").hasSize(2);
    fanOut();
    settle("", 1);
    settle("mail", 3);
    JsonNode deliveries = message(waiting).get("deliveries");
    assertThat(deliveries).hasSize(2);
    assertThat(deliveries.get(0).get("subscription").stringValue()).isEmpty();
    assertThat(deliveries.get(0).get("state").stringValue()).isEqualTo("delivered");
    assertThat(deliveries.get(1).get("subscription").stringValue()).isEqualTo("mail");
    assertThat(deliveries.get(1).get("state").stringValue()).isEqualTo("dead");
    assertThat(deliveries.get(1).get("last_code").stringValue()).isEqualTo("broken");
    assertThat(message(waiting).get("state").stringValue()).isEqualTo("dead");

    UUID alone = desk.enqueue("'shop', 'bills'");
    assertThat(message(alone).get("deliveries")).hasSize(1);
  }

  @Test
  void deadLettersAreThoseOfASubscription() {
    act("/v1/subscriptions", MAIL);
    UUID id = sent("k");
    settle("", 3);
    settle("mail", 3);
    assertThat(items("/v1/dead")).hasSize(2);
    assertThat(items("/v1/dead?subscription=mail")).hasSize(1);
    assertThat(items("/v1/dead?subscription=")).as("the default one").hasSize(1);
    assertThat(
            desk.get(desk.viewer, "/v1/dead/" + id + "?subscription=default")
                .json()
                .get("subscription")
                .stringValue())
        .isEmpty();
    assertThat(desk.get(desk.viewer, "/v1/dead/" + id + "?subscription=x").status()).isEqualTo(404);
    Answer requeued =
        desk.post(desk.operator, "/v1/dead/" + id + "/requeue", "{\"subscription\": \"mail\"}");
    assertThat(requeued.status()).as(requeued.text()).isEqualTo(200);
    assertThat(items("/v1/dead")).hasSize(1);
    settle("mail", 1);
    assertThat(message(id).get("state").stringValue()).isEqualTo("dead");
    Answer discarded =
        desk.post(
            desk.operator,
            "/v1/dead/discard",
            "{\"filter\": {\"subscription\": \"default\"}, \"reason\": \"why\"}");
    assertThat(discarded.json().get("count").intValue()).isEqualTo(1);
    assertThat(items("/v1/dead")).isEmpty();
  }

  @Test
  void aKeyIsRetriedWhereItIsBlocked() {
    act("/v1/subscriptions", MAIL);
    UUID id = sent("k");
    settle("", 4);
    settle("mail", 4);
    assertThat(items("/v1/keys/blocked")).hasSize(2);
    String key = "\"key\": \"k\", ";
    assertThat(act("/v1/keys/retry", key + "\"subscription\": \"mail\"").status()).isEqualTo(422);
    assertThat(act("/v1/keys/retry", key + MAIL.replace("mail", "mial")).status())
        .as("a name that does not exist is not the default one")
        .isEqualTo(404);
    assertThat(act("/v1/keys/retry", key + MAIL).status()).isEqualTo(200);
    assertThat(items("/v1/keys/blocked"))
        .singleElement()
        .satisfies(
            left -> assertThat(left.get("route").get("subscription").stringValue()).isEmpty());
    assertThat(act("/v1/keys/skip", key + "\"reason\": \"why\"").status()).isEqualTo(200);
    settle("mail", 1);
    assertThat(items("/v1/keys/blocked")).isEmpty();
    assertThat(message(id).get("deliveries").get(1).get("state").stringValue())
        .isEqualTo("delivered");
  }

  @Test
  void aSubscriptionBeginsInThePast() {
    UUID id = desk.enqueue("'shop', 'orders'");
    settle("", 1);
    String from = MAIL + ", \"from\": \"2026-01-01T00:00:00Z\"";
    Answer added = act("/v1/subscriptions", from);
    assertThat(added.status()).as(added.text()).isEqualTo(200);
    long job = added.json().get("replay").longValue();
    await()
        .until(
            () ->
                desk.get(desk.viewer, "/v1/replays/" + job)
                    .json()
                    .get("state")
                    .stringValue()
                    .equals("done"));
    JsonNode mail = items("/v1/subscriptions").get(1);
    assertThat(mail.get("catching_up").booleanValue()).isFalse();
    assertThat(mail.get("pending").intValue()).isEqualTo(1);
    settle("mail", 1);
    assertThat(message(id).get("deliveries")).hasSize(2);
    Answer again = act("/v1/subscriptions", from);
    assertThat(again.json().get("changed").booleanValue()).as(again.text()).isFalse();
  }

  @Test
  void whatWaitsForACatchUpIsDiscardedWithTheSubscription() {
    desk.postgres.execute(
        "select postrider.subscription_add_from('ann', 'shop', 'orders', 'mail', '2026-01-01')");
    desk.enqueue("'shop', 'orders'");
    desk.postgres.execute(
        "select postrider.fan_out(array(select id from postrider.route), 100, '{}')");
    Answer refused = act("/v1/subscriptions/remove", MAIL);
    assertThat(refused.status()).as(refused.text()).isEqualTo(422);
    assertThat(refused.text()).contains("replay resume 1");
    Answer removed = act("/v1/subscriptions/remove", MAIL + ", \"discard\": true");
    assertThat(removed.json().get("pending").intValue()).as(removed.text()).isEqualTo(1);
    Answer discarded = act("/v1/subscriptions/discard", MAIL + ", \"reason\": \"not needed\"");
    assertThat(discarded.json().get("count").intValue()).as(discarded.text()).isEqualTo(1);
    assertThat(items("/v1/subscriptions").get(1).get("catching_up").booleanValue()).isFalse();
  }

  @Test
  void aReplayGoesToOneSubscription() {
    UUID id = desk.enqueue("'shop', 'orders'");
    settle("", 1);
    act("/v1/subscriptions", MAIL);
    String filter = "{\"filter\": {\"namespace\": \"shop\", %s}, \"dry_run\": true}";
    Answer counted = desk.post(desk.operator, "/v1/replays", filter.formatted(MAIL));
    assertThat(counted.json().get("requeued").intValue()).as(counted.text()).isEqualTo(1);
    Answer alone =
        desk.post(desk.operator, "/v1/replays", filter.formatted("\"subscription\": \"mail\""));
    assertThat(alone.status()).as("needs a topic").isEqualTo(422);
    assertThat(message(id).get("deliveries")).hasSize(1);
  }
}
