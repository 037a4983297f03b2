package dev.postrider.spring;

import javax.sql.DataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SimpleConnectionHandle;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Tells whether a transaction manager will commit what is written to a DataSource now. A bound
 * connection proves nothing: inside a transaction of another DataSource, Spring also binds the
 * connections that are merely borrowed, and nobody commits those. Thread-safe.
 */
final class OpenTransaction {
  private final Probe probe;

  OpenTransaction(DataSource dataSource) {
    this.probe = new Probe(dataSource);
  }

  /** What transaction managers of a DataSource call their own. */
  static Object resource(DataSource dataSource) {
    return new Probe(dataSource).getResourceFactory();
  }

  /** Returns the connection holder of the transaction, or throws. */
  Object require() {
    if (!TransactionSynchronizationManager.isActualTransactionActive()) {
      throw new OutsideTransactionException(
          "publish was called outside a transaction; nothing was written. Annotate the method that"
              + " writes the rows with @Transactional and call it through its bean, or use a"
              + " TransactionTemplate");
    }
    Object bound = TransactionSynchronizationManager.getResource(probe.getResourceFactory());
    if (bound != null && EndedTransactions.contains(bound)) {
      throw new OutsideTransactionException(
          "publish was called after the transaction had ended; nothing was written. Publish before"
              + " the commit, for example with @EventListener or with the phase BEFORE_COMMIT, or in"
              + " a transaction of its own: @Transactional(propagation = Propagation.REQUIRES_NEW)");
    }
    if (bound == null || !open(bound)) {
      throw new OutsideTransactionException(
          "publish was called in a transaction of another DataSource than the outbox's; nothing was"
              + " written. Name the transaction manager of the outbox's DataSource:"
              + " @Transactional(\"nameOfTheManager\"), or inject the outbox of the DataSource that"
              + " the transaction is on");
    }
    return bound;
  }

  private boolean open(Object bound) {
    if (!(bound instanceof ConnectionHolder holder)) {
      return false;
    }
    // JPA's dialects bind a handle of their own, and only for their own transactions.
    boolean jpa =
        holder.getConnectionHandle() != null
            && !(holder.getConnectionHandle() instanceof SimpleConnectionHandle);
    return jpa || probe.transactionActive();
  }

  /** Asks as a transaction manager would that wants to join. Never begins a transaction. */
  private static final class Probe extends DataSourceTransactionManager {
    private static final long serialVersionUID = 1L;

    Probe(DataSource dataSource) {
      super(dataSource);
    }

    boolean transactionActive() {
      return isExistingTransaction(doGetTransaction());
    }
  }
}
