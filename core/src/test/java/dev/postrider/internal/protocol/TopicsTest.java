package dev.postrider.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.InvalidMessageException;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.testing.Pages;
import dev.postrider.testing.Postbox;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Topics may be many; only those with messages cost anything, and their number has a limit. */
@Tag("EN-21")
@Timeout(60)
class TopicsTest {
  private final Postbox post = new Postbox(18);

  @Test
  void aNewTopicBeyondTheLimitIsRefusedAndKnownOnesAreNot() {
    post.database.execute("update postrider.engine set max_topics = 2");
    post.send("orders");
    post.send("bills");
    assertThatThrownBy(() -> post.send("payments"))
        .hasMessageContaining("at most 2 are allowed")
        .asInstanceOf(type(InvalidMessageException.class))
        .extracting(InvalidMessageException::field)
        .isEqualTo("topic");
    assertThatThrownBy(
            () -> post.database.execute("select postrider.enqueue('shop', 'payments', '{}')"))
        .hasStackTraceContaining("topic is new")
        .hasStackTraceContaining("max_topics");
    post.send("orders");
    post.send(2, "bills", "k");
    post.database.execute("select postrider.enqueue('another-namespace', 'payments', '{}')");
    assertThat(post.database.column("select topic from postrider.route order by id"))
        .containsExactly("orders", "bills", "payments");
  }

  @Test
  void aNewNamespaceBeyondTheLimitIsRefusedAndKnownOnesAreNot() {
    post.send("orders");
    post.database.execute("update postrider.engine set max_namespaces = 3");
    post.database.execute("select postrider.enqueue('a', 'orders', '{}')");
    post.database.execute("select postrider.enqueue('z', 'orders', '{}')");
    assertThatThrownBy(() -> post.database.execute("select postrider.enqueue('m', 'x', '{}')"))
        .hasStackTraceContaining("namespace is new")
        .hasStackTraceContaining("at most 3 are allowed")
        .hasStackTraceContaining("max_namespaces");
    assertThatThrownBy(
            () ->
                post.database.execute(
                    """
                    select * from postrider.enqueue_batch(
                      '[{"namespace": "b", "topic": "t", "payload": "{}"}]')
                    """))
        .hasStackTraceContaining("max_namespaces");
    post.send("bills");
    post.database.execute("select postrider.enqueue('z', 'bills', '{}')");
    assertThat(post.database.count("select count(*) from postrider.route")).isEqualTo(5);
  }

  @Test
  void discoveryReadsThoseWithMessagesOnly() throws Exception {
    manyTopics();
    post.send(500, "topic-17", null);
    post.send(500, "topic-4000", "k");
    assertThat(post.database.column("select route from postrider.queued_routes()")).hasSize(2);
    assertThat(Pages.touched(post.database, "select * from postrider.queued_routes()"))
        .isLessThan(40);
  }

  @Test
  void aRelayLooksUpThoseWithMessagesOnly() {
    manyTopics();
    post.database.execute("vacuum analyze postrider.route; select pg_stat_reset()");
    Map<UUID, Boolean> delivered = new ConcurrentHashMap<>();
    try (Relay relay = relay(delivered)) {
      for (int i = 1; i <= 5; i++) {
        int sent = i;
        post.database.execute(
            "select postrider.try_enqueue_plain('shop', 'topic-%d', '{}')".formatted(i * 700));
        await().until(() -> delivered.size() == sent);
      }
    }
    // Statistics of a session are complete when it has ended.
    await()
        .until(
            () ->
                post.database.count("select idx_scan from pg_stat_user_tables where" + ROUTE)
                    >= 10);
    assertThat(
            post.database.count(
                "select seq_tup_read + idx_tup_fetch from pg_stat_user_tables where" + ROUTE))
        .isLessThan(100);
  }

  private static final String ROUTE = " schemaname = 'postrider' and relname = 'route'";

  private Relay relay(Map<UUID, Boolean> delivered) {
    RelayConfig config = RelayConfig.defaults().withPollInterval(Duration.ofMillis(20));
    return Relay.builder(post.database.dataSource())
        .config(config)
        .destination(
            "here",
            HandlerDestination.inline(
                message -> {
                  delivered.put(message.id(), true);
                  return Outcome.delivered();
                }))
        .route("shop", "*", "here")
        .build()
        .start();
  }

  private void manyTopics() {
    post.database.execute(
        "insert into postrider.route (namespace, topic) select 'shop', 'topic-' || i from generate_series(1, 5000) i");
  }
}
