package dev.postrider.spring;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Enqueued;
import dev.postrider.message.JsonCodec;
import dev.postrider.message.NewMessage;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.SQLErrorCodeSQLExceptionTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;

/**
 * Publishes messages in the current Spring transaction: with JDBC, JPA and jOOQ. If the transaction
 * commits the message exists, if it rolls back it never did. One instance serves one DataSource.
 * Thread-safe.
 */
public final class TransactionalOutbox {
  private static final String READ_ONLY = "25006";

  private final DataSource dataSource;
  private final Outbox outbox;
  private final OpenTransaction transaction;
  private final Hooks hooks;
  private final SQLExceptionTranslator errors;

  /**
   * What happens around a publish.
   *
   * @param flush before it
   * @param scope around it
   * @param routes looks for a route; null for outboxes that the application made itself
   * @param listeners hear of each message that was written
   * @param afterCommit when the transaction has committed and this application serves a topic of it
   */
  record Hooks(
      Runnable flush,
      PublishScope scope,
      @Nullable RouteCheck routes,
      List<PublishListener> listeners,
      Runnable afterCommit) {
    static final Hooks NONE = new Hooks(() -> {}, PublishScope.NONE, null, List.of(), () -> {});
  }

  /**
   * An outbox for one more DataSource. Its schema must exist.
   *
   * @param codec writes payloads that are objects; null if all payloads are text or bytes
   */
  public TransactionalOutbox(DataSource dataSource, Schema schema, @Nullable JsonCodec codec) {
    this(dataSource, new Outbox(schema, codec), Hooks.NONE);
  }

  TransactionalOutbox(DataSource dataSource, Outbox outbox, Hooks hooks) {
    this.dataSource = dataSource;
    this.outbox = outbox;
    this.transaction = new OpenTransaction(dataSource);
    this.hooks = hooks;
    this.errors = new SQLErrorCodeSQLExceptionTranslator("PostgreSQL");
  }

  /**
   * Publishes one message. With JPA, pending changes of entities are written first. If the dedupe
   * key is known nothing is written, and the answer is the first message's.
   *
   * @throws OutsideTransactionException if no transaction that can write is open on the DataSource
   *     of this outbox
   * @throws NoRouteException if no relay has a route for the topic, unless {@code
   *     postrider.unrouted} says otherwise
   * @throws dev.postrider.message.InvalidMessageException if a field is missing or over its limit
   * @throws org.springframework.dao.DataAccessException from the database
   */
  public Enqueued publish(NewMessage message) {
    return call(
            List.of(message),
            (connection, given) -> List.of(outbox.enqueue(connection, given.get(0))))
        .get(0);
  }

  /** Publishes many messages in one call; all or none. Answers are in the order of the messages. */
  public List<Enqueued> publish(List<NewMessage> messages) {
    return call(messages, outbox::enqueue);
  }

  private interface Call {
    List<Enqueued> on(Connection connection, List<NewMessage> messages) throws SQLException;
  }

  private List<Enqueued> call(List<NewMessage> messages, Call call) {
    Object holder = transaction.require();
    hooks.flush().run();
    return hooks.scope().run(messages, given -> write(holder, given, call));
  }

  private List<Enqueued> write(Object holder, List<NewMessage> messages, Call call) {
    Connection connection = DataSourceUtils.getConnection(dataSource);
    try {
      if (hooks.routes() != null) {
        hooks.routes().check(connection, messages);
      }
      List<Enqueued> answers = call.on(connection, messages);
      tell(messages, answers, PublishListener::published);
      OpenPublications.add(holder, publication(messages, answers));
      return answers;
    } catch (SQLException e) {
      if (READ_ONLY.equals(e.getSQLState())) {
        throw new OutsideTransactionException(
            "publish was called in a read-only transaction; nothing was written. Remove readOnly ="
                + " true from its @Transactional, or publish in a transaction of its own:"
                + " @Transactional(propagation = Propagation.REQUIRES_NEW)",
            e);
      }
      RuntimeException translated = errors.translate("publish", null, e);
      throw translated == null ? new UncategorizedSQLException("publish", null, e) : translated;
    } finally {
      DataSourceUtils.releaseConnection(connection, dataSource);
    }
  }

  private Publication publication(List<NewMessage> messages, List<Enqueued> answers) {
    boolean served = false;
    for (int i = 0; i < answers.size(); i++) {
      served =
          served
              || (!answers.get(i).duplicate()
                  && hooks.routes() != null
                  && hooks.routes().servesHere(messages.get(i).route()));
    }
    Runnable wake = served ? hooks.afterCommit() : () -> {};
    return new Publication(
        () -> {
          wake.run();
          tell(messages, answers, PublishListener::committed);
        },
        () -> tell(messages, answers, PublishListener::rolledBack));
  }

  private interface Told {
    void of(PublishListener listener, NewMessage message, Enqueued answer);
  }

  private void tell(List<NewMessage> messages, List<Enqueued> answers, Told told) {
    for (int i = 0; i < answers.size(); i++) {
      for (PublishListener listener : hooks.listeners()) {
        told.of(listener, messages.get(i), answers.get(i));
      }
    }
  }
}
