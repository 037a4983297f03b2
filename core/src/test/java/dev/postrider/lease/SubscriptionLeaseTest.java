package dev.postrider.lease;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static dev.postrider.testing.Postbox.ids;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.postrider.message.Message;
import dev.postrider.message.MessageState;
import dev.postrider.message.Route;
import dev.postrider.operations.Subscriptions;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Postbox;
import java.security.MessageDigest;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** The lease store of a topic with several subscriptions. */
@Tag("EN-23")
@Timeout(60)
class SubscriptionLeaseTest {
  private static final Route ORDERS = new Route(NAMESPACE, "orders");
  private static final Route MAIL = new Route(NAMESPACE, "orders", "mail");

  private final Postbox post = new Postbox(18);
  private final LeaseStore ann = post.worker("ann");
  private final LeaseStore bob = post.worker("bob");
  private final LeaseStore cat = post.worker("cat");
  private final Logger logger = (Logger) LoggerFactory.getLogger(LeaseStore.class);
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

  @BeforeEach
  void addMail() throws Exception {
    new Subscriptions(post.database.dataSource(), Schema.DEFAULT).add("ann", MAIL);
    logged.start();
    logger.addAppender(logged);
  }

  @AfterEach
  void nothingIsLostOrStuck() {
    logger.detachAppender(logged);
    post.check();
  }

  private static Message one(LeaseStore store, Route route) {
    List<Message> claimed = store.claim(List.of(route), 1, MINUTE);
    assertThat(claimed).hasSize(1);
    return claimed.get(0);
  }

  @Test
  @Tag("LP-5")
  void whatOneSubscriptionHasIsNewToAnother() throws Exception {
    UUID id = post.send("orders");
    byte[] sha = MessageDigest.getInstance("SHA-256").digest(one(ann, ORDERS).payload());
    assertThat(one(bob, MAIL).id()).isEqualTo(id);
    assertThat(ann.ackSent(id, "here-1")).isTrue();
    assertThat(ann.checkDedup(ORDERS, sha)).contains(new LeaseStore.Earlier(id, "here-1"));
    assertThat(bob.checkDedup(MAIL, sha)).isEmpty();
    assertThat(bob.ackSent(id, "mail-1")).isTrue();
    assertThat(bob.checkDedup(MAIL, sha)).contains(new LeaseStore.Earlier(id, "mail-1"));
    assertThat(ann.checkDedup(ORDERS, sha)).contains(new LeaseStore.Earlier(id, "here-1"));
    post.send("orders");
    assertThat(one(bob, MAIL).route()).isEqualTo(MAIL);
    assertThat(post.database.count("select count(*) from postrider.delivered_content"))
        .isEqualTo(2);
  }

  @Test
  @Tag("LP-6")
  void aConflictNamesTheSubscriptionAndTheStateFoundThere() {
    UUID id = post.send("orders", "k");
    one(ann, ORDERS);
    one(bob, MAIL);
    post.database.execute(
        "update postrider.lease set until = now() - interval '1 s' where token ="
            + " (select lease from postrider.queue where subscription > 0)");
    assertThat(ids(cat.claim(List.of(MAIL), 1, MINUTE))).containsExactly(id);
    assertThat(bob.ackSent(id, "mail-1")).isFalse();
    assertThat(bob.renewLease(id, MINUTE)).isFalse();
    assertThat(cat.release(List.of(id))).isEmpty();
    assertThat(cat.ack(id)).isFalse();
    assertThat(
            post.database.column(
                """
                select concat_ws(' / ', subscription, worker, code, error)
                  from postrider.attempt_history where state = 'CONFLICT' order by finished_at
                """))
        .containsExactly(
            "mail / bob / delivered / found processing, held by cat",
            "mail / bob / renew / found processing, held by cat",
            "mail / cat / delivered / found pending");
    assertThat(logged.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .filteredOn(line -> line.contains("outbox_flush_conflict"))
        .hasSize(3)
        .allMatch(line -> line.contains("subscription=mail"));
    assertThat(logged.list.get(0).getFormattedMessage())
        .contains("state=PROCESSING", "locked_by=cat");
    CurrentState found = bob.describe(id).orElseThrow();
    assertThat(found.subscription()).isEqualTo("mail");
    assertThat(found.state()).isEqualTo(MessageState.PENDING);
    assertThat(ann.ack(id)).as("the default subscription").isTrue();
    assertThat(ann.ack(id)).isFalse();
    assertThat(
            post.database.value(
                "select concat_ws('/', subscription, error) from postrider.attempt_history"
                    + " where state = 'CONFLICT' and worker = 'ann'"))
        .isEqualTo("/found delivered");
  }

  @Test
  void aRefusalNamesBothSubscriptions() {
    UUID id = post.send("orders", "k");
    one(ann, ORDERS);
    assertThatThrownBy(() -> ann.claim(List.of(MAIL), 1, MINUTE))
        .hasMessageContaining("of shop/orders, default and mail");
    one(bob, MAIL);
    assertThatThrownBy(() -> bob.claim(NAMESPACE, 1, MINUTE))
        .hasMessageContaining("of shop/orders, mail and default");
    LeaseStore twin = post.worker("ann");
    assertThat(bob.release(List.of(id))).isEmpty();
    one(twin, MAIL);
    assertThatThrownBy(() -> ann.ack(id))
        .hasStackTraceContaining("for two subscriptions, default and mail;");
    assertThatThrownBy(() -> ann.renewLease(id, MINUTE))
        .hasStackTraceContaining("for two subscriptions, default and mail;");
  }
}
