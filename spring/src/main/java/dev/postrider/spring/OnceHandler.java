package dev.postrider.spring;

import dev.postrider.destination.MessageHandler;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.InboxResult;
import dev.postrider.inbox.Incoming;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/** Handles a message and records it in the inbox, in one transaction. Thread-safe. */
final class OnceHandler implements MessageHandler {
  private final String consumer;
  private final MessageHandler next;
  private final OutboxSchema database;
  private final PlatformTransactionManager transactions;
  private final OpenTransaction open;
  private final Inbox inbox;

  OnceHandler(
      String consumer,
      MessageHandler next,
      OutboxSchema database,
      PlatformTransactionManager transactions) {
    this.consumer = consumer;
    this.next = next;
    this.database = database;
    this.transactions = transactions;
    this.open = new OpenTransaction(database.dataSource());
    this.inbox = new Inbox(database.schema());
  }

  @Override
  public Outcome handle(Message message) throws Exception {
    TransactionStatus status = transactions.getTransaction(new DefaultTransactionDefinition());
    Outcome outcome;
    try {
      open.require();
      outcome = handleNew(message);
    } catch (Throwable e) {
      transactions.rollback(status);
      throw e;
    }
    if (outcome instanceof Outcome.Delivered) {
      transactions.commit(status);
    } else {
      transactions.rollback(status);
    }
    return outcome;
  }

  private Outcome handleNew(Message message) throws Exception {
    InboxResult verdict = verdict(message);
    if (verdict.isNew()) {
      return next.handle(message);
    }
    return verdict == InboxResult.DUPLICATE
        ? Outcome.delivered()
        : Outcome.terminal("inbox_stale", "a later message of the key was handled before");
  }

  private InboxResult verdict(Message message) throws SQLException {
    Connection connection = DataSourceUtils.getConnection(database.dataSource());
    try {
      return inbox.accept(connection, consumer, Incoming.of(message));
    } finally {
      DataSourceUtils.releaseConnection(connection, database.dataSource());
    }
  }
}
