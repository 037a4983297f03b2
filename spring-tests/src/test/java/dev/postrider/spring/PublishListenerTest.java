package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.message.RetryPolicy;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What is told after a publish, and the wake of the relay of the same process, in their order. */
@Tag("OP-5")
class PublishListenerTest {
  private static final TestPostgres ORDERS = Apps.database();
  private static final TestPostgres BILLING = Apps.database();

  private final List<String> events = new ArrayList<>();
  private final DataSource orders = ORDERS.dataSource();
  private final DataSource billing = BILLING.dataSource();
  private final PlatformTransactionManager ordersManager = known(orders);
  private final PlatformTransactionManager billingManager = known(billing);

  private final PublishListener listener =
      new PublishListener() {
        @Override
        public void published(NewMessage message, Enqueued answer) {
          events.add("published " + text(message));
        }

        @Override
        public void committed(NewMessage message, Enqueued answer) {
          events.add("committed " + text(message));
        }

        @Override
        public void rolledBack(NewMessage message, Enqueued answer) {
          events.add("rolled back " + text(message));
        }
      };

  private static String text(NewMessage message) {
    return new String(message.payload(), java.nio.charset.StandardCharsets.UTF_8);
  }

  /** As a bean of an application. */
  private static PlatformTransactionManager known(DataSource dataSource) {
    JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
    new EndedTransactions().postProcessBeforeInitialization(manager, "manager");
    return manager;
  }

  private TransactionalOutbox outbox(DataSource dataSource) {
    RelayPlan.Line line =
        new RelayPlan.Line("shop", "orders", "", "broker", RetryPolicy.DEFAULT, null);
    return new TransactionalOutbox(
        dataSource,
        new Outbox(Schema.DEFAULT, null),
        new TransactionalOutbox.Hooks(
            () -> {},
            PublishScope.NONE,
            new RouteCheck(
                Schema.DEFAULT,
                OutboxProperties.Unrouted.ALLOW,
                true,
                () -> List.of(line),
                () -> ""),
            List.of(listener),
            () -> events.add("woken")));
  }

  private static NewMessage message(String payload) {
    return NewMessage.to("shop", "orders").json(payload).build();
  }

  private static void in(
      PlatformTransactionManager manager, int propagation, Consumer<TransactionStatus> work) {
    TransactionTemplate template = new TransactionTemplate(manager);
    template.setPropagationBehavior(propagation);
    template.executeWithoutResult(work);
  }

  private static void in(PlatformTransactionManager manager, Consumer<TransactionStatus> work) {
    in(manager, TransactionDefinition.PROPAGATION_REQUIRED, work);
  }

  @Test
  void theRelayIsWokenAfterTheCommit() {
    in(
        ordersManager,
        status -> {
          outbox(orders).publish(message("1"));
          events.add("end of the method");
        });
    assertThat(events).containsExactly("published 1", "end of the method", "woken", "committed 1");
  }

  @Test
  void theRelayIsNotWokenAfterARollback() {
    in(
        ordersManager,
        status -> {
          outbox(orders).publish(message("1"));
          status.setRollbackOnly();
        });
    assertThat(events).containsExactly("published 1", "rolled back 1");
  }

  @Test
  void whatWasRolledBackToASavepointIsNotCommitted() {
    in(
        ordersManager,
        outer -> {
          outbox(orders).publish(message("1"));
          in(
              ordersManager,
              TransactionDefinition.PROPAGATION_NESTED,
              nested -> {
                outbox(orders).publish(message("2"));
                nested.setRollbackOnly();
              });
          in(
              ordersManager,
              TransactionDefinition.PROPAGATION_NESTED,
              nested -> outbox(orders).publish(message("3")));
          events.add("end of the method");
        });
    assertThat(events)
        .containsExactly(
            "published 1",
            "published 2",
            "rolled back 2",
            "published 3",
            "end of the method",
            "woken",
            "committed 1",
            "woken",
            "committed 3");
  }

  @Test
  void onlyAMessageRolledBackToASavepointWakesNobody() {
    in(
        ordersManager,
        outer -> {
          Object savepoint = outer.createSavepoint();
          outbox(orders).publish(message("1"));
          outer.rollbackToSavepoint(savepoint);
        });
    assertThat(events).containsExactly("published 1", "rolled back 1");
  }

  /**
   * The inner transaction is of another database, so it commits although the outer one does not.
   */
  @Test
  void anInnerTransactionOfAnotherDataSourceEndsByItself() {
    in(
        ordersManager,
        outer -> {
          in(billingManager, inner -> outbox(billing).publish(message("1")));
          events.add("end of the outer one");
          outer.setRollbackOnly();
        });
    assertThat(events)
        .containsExactly("published 1", "woken", "committed 1", "end of the outer one");
  }

  @Test
  void anInnerTransactionOfAnotherDataSourceThatRollsBackWakesNobody() {
    in(
        ordersManager,
        outer -> {
          in(
              billingManager,
              inner -> {
                outbox(billing).publish(message("1"));
                outbox(orders).publish(message("2"));
                inner.setRollbackOnly();
              });
          events.add("end of the outer one");
        });
    assertThat(events)
        .containsExactly(
            "published 1",
            "published 2",
            "rolled back 1",
            "end of the outer one",
            "woken",
            "committed 2");
  }

  @Test
  void aTransactionOfItsOwnEndsByItself() {
    in(
        ordersManager,
        outer -> {
          outbox(orders).publish(message("1"));
          in(
              ordersManager,
              TransactionDefinition.PROPAGATION_REQUIRES_NEW,
              own -> outbox(orders).publish(message("2")));
          outer.setRollbackOnly();
        });
    assertThat(events)
        .containsExactly("published 1", "published 2", "woken", "committed 2", "rolled back 1");
  }

  @Test
  void aListenerOfTheApplicationThatFailsChangesNothing() {
    assertThatThrownBy(
            () ->
                in(
                    ordersManager,
                    status -> {
                      TransactionSynchronizationManager.registerSynchronization(
                          new TransactionSynchronization() {
                            @Override
                            public void afterCommit() {
                              throw new IllegalStateException("no mail server");
                            }
                          });
                      outbox(orders).publish(message("1"));
                    }))
        .hasMessage("no mail server");
    assertThat(events).containsExactly("published 1", "woken", "committed 1");
  }

  @Test
  void aCommitThatFailsBeforeItBeginsWakesNobodyAndLeavesNothing() {
    assertThatThrownBy(
            () ->
                in(
                    ordersManager,
                    status -> {
                      TransactionSynchronizationManager.registerSynchronization(
                          new TransactionSynchronization() {
                            @Override
                            public void beforeCommit(boolean readOnly) {
                              throw new IllegalStateException("no flush");
                            }
                          });
                      outbox(orders).publish(message("1"));
                    }))
        .hasMessage("no flush");
    in(ordersManager, status -> outbox(orders).publish(message("2")));
    assertThat(events)
        .containsExactly("published 1", "rolled back 1", "published 2", "woken", "committed 2");
  }

  /** The savepoint is of the outer transaction, which is suspended when the message is written. */
  @Test
  void aMessageWrittenInsideATransactionOfAnotherDataSourceHearsOfItsSavepoint() {
    in(
        ordersManager,
        outer -> {
          Object savepoint = outer.createSavepoint();
          in(billingManager, inner -> outbox(orders).publish(message("1")));
          outer.rollbackToSavepoint(savepoint);
        });
    assertThat(events).containsExactly("published 1", "rolled back 1");
  }

  @Test
  void aTransactionManagerThatIsNoBeanIsHeardToo() {
    in(new JdbcTransactionManager(orders), status -> outbox(orders).publish(message("1")));
    assertThat(events).containsExactly("published 1", "woken", "committed 1");
  }

  @Test
  void aTopicThatIsNotServedHereAndADuplicateWakeNobody() {
    NewMessage elsewhere = NewMessage.to("shop", "refunds").json("1").build();
    NewMessage once = NewMessage.to("shop", "orders").dedupeKey("once").json("2").build();
    in(ordersManager, status -> outbox(orders).publish(elsewhere));
    in(ordersManager, status -> outbox(orders).publish(once));
    in(ordersManager, status -> outbox(orders).publish(once));
    assertThat(events)
        .containsExactly(
            "published 1",
            "committed 1",
            "published 2",
            "woken",
            "committed 2",
            "published 2",
            "committed 2");
    assertThat(new JdbcTemplate(orders).queryForList("select 1 from postrider.dedupe")).hasSize(1);
  }
}
