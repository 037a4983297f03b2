package dev.postrider.lease;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.postrider.error.DatabaseError;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Postbox;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.LoggerFactory;

class FlushOutcomeTest {
  private final Postbox post = new Postbox(18);
  private final List<String> counted = new CopyOnWriteArrayList<>();
  private final LeaseOptions options =
      LeaseOptions.DEFAULT
          .withTimeout(Duration.ofSeconds(1))
          .withListener((outcome, count) -> counted.add(outcome.code() + " " + count));
  private final LeaseStore ann = post.worker("ann", options);
  private final Logger logger = (Logger) LoggerFactory.getLogger(LeaseStore.class);
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

  @BeforeEach
  void listen() {
    logger.setLevel(ch.qos.logback.classic.Level.INFO);
    logged.start();
    logger.addAppender(logged);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(logged);
    logger.setLevel(null);
    assertThat(logged.list)
        .extracting(
            event ->
                event
                    .getFormattedMessage()
                    .replaceAll("(?s)^event=(\\S+) worker=ann count=(\\d+).*", "$1 $2"))
        .isEqualTo(counted);
  }

  @Test
  @Tag("LP-8")
  void everyWayToSettleIsLoggedAndCounted() {
    List<UUID> sent = post.send(4, "orders", null);
    ann.claim(NAMESPACE, 4, MINUTE);
    ann.ackSent(sent.subList(0, 2));
    ann.failRetry(sent.get(2), "e", Instant.EPOCH);
    ann.markDead(sent.get(3), "e");
    ann.ack(sent.get(0));
    assertThat(counted)
        .containsExactly(
            "outbox_flush_success 2",
            "outbox_flush_retry 1",
            "outbox_flush_dead 1",
            "outbox_flush_conflict 1");
    assertThat(logged.list.get(3).getFormattedMessage())
        .contains("id=" + sent.get(0), "action=delivered", "state=DELIVERED");
  }

  @Test
  @Tag("LP-8")
  void aDedupHitIsCounted() throws Exception {
    post.send("orders");
    byte[] payload = ann.claim(NAMESPACE, 1, MINUTE).get(0).payload();
    byte[] sha = MessageDigest.getInstance("SHA-256").digest(payload);
    post.database.execute(
        "insert into postrider.delivered_content values (1, sha256('{\"n\": 0}'), '"
            + UUID.randomUUID()
            + "', 'r')");
    ann.checkDedup(new Route(NAMESPACE, "orders"), sha);
    assertThat(counted).containsExactly("outbox_flush_dedup_hit 1");
  }

  @Test
  @Tag("LP-8")
  void aStatementThatHangsIsEndedAndCountedAsTimeout() throws Exception {
    UUID id = post.send("orders");
    ann.claim(NAMESPACE, 1, MINUTE);
    try (Connection holder = post.database.transaction();
        Statement lock = holder.createStatement()) {
      lock.execute("select from postrider.lease for update");
      assertThatThrownBy(() -> ann.ack(id))
          .isInstanceOfSatisfying(
              StoreException.class, e -> assertThat(e.error()).isEqualTo(DatabaseError.TIMEOUT));
    }
    assertThat(counted).containsExactly("outbox_flush_db_timeout 1");
    assertThat(post.state(id)).isEqualTo("processing");
  }

  @Test
  @Tag("LP-8")
  void aDatabaseThatCannotBeReachedIsCountedAsError() {
    PGSimpleDataSource nowhere = new PGSimpleDataSource();
    nowhere.setURL("jdbc:postgresql://localhost:1/none");
    LeaseStore store = new LeaseStore(nowhere, Schema.DEFAULT, "ann", options);
    assertThatThrownBy(() -> store.claim(NAMESPACE, 1, MINUTE))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.error()).isEqualTo(DatabaseError.TRANSIENT));
    assertThat(counted).containsExactly("outbox_flush_db_error 1");
  }
}
