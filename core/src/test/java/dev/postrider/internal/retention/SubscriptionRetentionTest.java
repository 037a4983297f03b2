package dev.postrider.internal.retention;

import static dev.postrider.testing.Postbox.MINUTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.lease.LeaseOptions;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Message;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.Route;
import dev.postrider.observe.RelayListener;
import dev.postrider.operations.Subscriptions;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A message that the default subscription has had stays until each named one is done with it. */
@Tag("EN-23")
@Tag("OP-8")
@Timeout(60)
class SubscriptionRetentionTest {
  private static final Route ORDERS = new Route("shop", "orders");
  private static final Route MAIL = new Route("shop", "orders", "mail");
  private static final int OPEN = 3;

  private final TestDatabase database = TestDatabase.create();
  private final OldLog log = new OldLog(database);
  private final LeaseStore here = worker("here");
  private final LeaseStore mail = worker("mail");

  private enum Found {
    NOT_FANNED_OUT,
    WAITING,
    IN_FLIGHT,
    DEAD,
    BLOCKED
  }

  private LeaseStore worker(String name) {
    return worker(name, RetryPolicy.DeadPolicy.SKIP);
  }

  private LeaseStore worker(String name, RetryPolicy.DeadPolicy onDead) {
    return new LeaseStore(
        database.dataSource(),
        Schema.DEFAULT,
        name,
        LeaseOptions.DEFAULT.withRetry(RetryPolicy.DEFAULT.withOnDead(onDead)));
  }

  private void fanOut() {
    database.execute("select postrider.fan_out(array[1], 1000, '{}')");
  }

  private static List<Message> claim(LeaseStore store, Route route) {
    return store.claim(List.of(route), 100, MINUTE);
  }

  /** Three of twenty messages of fifty days ago are open in the named subscription only. */
  private void open(Found found) throws Exception {
    log.partition(50);
    log.messages(50, "delivered", 20);
    new Subscriptions(database.dataSource(), Schema.DEFAULT).add("ann", MAIL);
    database.execute(
        """
        insert into postrider.queue (id, key_id, sequence, route, size, lane)
        select id, key_id, sequence, -1, 1, 0 from postrider.message order by id limit %d
        """
            .formatted(OPEN));
    if (found == Found.NOT_FANNED_OUT) {
      return;
    }
    fanOut();
    claim(here, ORDERS).forEach(message -> assertThat(here.ack(message.id())).isTrue());
    if (found == Found.IN_FLIGHT) {
      assertThat(claim(mail, MAIL)).hasSize(OPEN);
    } else if (found == Found.DEAD || found == Found.BLOCKED) {
      LeaseStore refusing =
          worker(
              "mail",
              found == Found.BLOCKED ? RetryPolicy.DeadPolicy.BLOCK : RetryPolicy.DeadPolicy.SKIP);
      claim(refusing, MAIL).forEach(message -> refusing.markDead(message.id(), "refused"));
    }
  }

  private void close(Found found) throws Exception {
    switch (found) {
      case NOT_FANNED_OUT -> {
        fanOut();
        claim(here, ORDERS).forEach(message -> here.ack(message.id()));
        claim(mail, MAIL).forEach(message -> mail.ack(message.id()));
      }
      case WAITING -> claim(mail, MAIL).forEach(message -> mail.ack(message.id()));
      case IN_FLIGHT ->
          database
              .column("select id from postrider.queue")
              .forEach(id -> mail.ack(UUID.fromString(id)));
      case DEAD, BLOCKED ->
          new DeadLetters(database.dataSource(), Schema.DEFAULT)
              .discard("ann", "no longer used", DeadLetterFilter.all(), count -> true);
    }
    assertThat(database.count("select count(*) from postrider.queue")).isZero();
  }

  private boolean drops() {
    return database
        .value(
            "select postrider.archive_drop('ann', 'message_old_50',"
                + " postrider.id_floor(now() - interval '40 days'), 20)")
        .equals("t");
  }

  private void purge() throws Exception {
    RetentionConfig config =
        RetentionConfig.off().withPeriod(RetentionTask.MESSAGES, Duration.ofDays(40));
    new Retention(database.dataSource(), Schema.DEFAULT, config, "relay", new RelayListener() {})
        .runDue();
  }

  @ParameterizedTest
  @EnumSource
  void aPartitionIsDroppedWhenAllDeliveriesAreDone(Found found) throws Exception {
    open(found);
    assertThat(drops()).isFalse();
    assertThat(log.left("delivered")).isEqualTo(20);
    close(found);
    assertThat(drops()).isTrue();
    assertThat(database.count("select count(*) from postrider.message")).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aPurgeByRowsLeavesWhatIsOpen(Found found) throws Exception {
    open(found);
    purge();
    assertThat(log.left("delivered")).isEqualTo(OPEN);
    close(found);
    database.execute(
        "update postrider.retention set started_at = now() - interval '2 d',"
            + " finished_at = now() - interval '2 d'");
    purge();
    assertThat(log.left("delivered")).isZero();
  }
}
