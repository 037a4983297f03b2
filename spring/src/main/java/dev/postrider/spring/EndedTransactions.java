package dev.postrider.spring;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * Knows which transactions of a thread are past their commit or rollback. Spring calls listeners
 * such as those of {@code AFTER_COMMIT} while the transaction still looks open, but nobody commits
 * what they write. Also opens the list of a transaction's publications. Listens to every
 * transaction manager of the application. Thread-safe.
 */
final class EndedTransactions implements TransactionExecutionListener, BeanPostProcessor {
  private static final ThreadLocal<Set<Object>> ENDED =
      ThreadLocal.withInitial(() -> Collections.newSetFromMap(new IdentityHashMap<>()));

  /** Whether the transaction of this connection holder has ended. */
  static boolean contains(Object holder) {
    return ENDED.get().contains(holder);
  }

  @Override
  public Object postProcessBeforeInitialization(Object bean, String name) {
    if (bean instanceof ConfigurableTransactionManager manager) {
      manager.addListener(this);
    }
    return bean;
  }

  @Override
  public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
    Object holder = holder(transaction);
    if (holder != null
        && failure == null
        && transaction instanceof DefaultTransactionStatus status
        && status.isNewSynchronization()) {
      OpenPublications.begun(holder);
    }
  }

  @Override
  public void beforeCommit(TransactionExecution transaction) {
    Object holder = holder(transaction);
    if (holder != null) {
      ENDED.get().add(holder);
    }
  }

  @Override
  public void beforeRollback(TransactionExecution transaction) {
    beforeCommit(transaction);
  }

  @Override
  public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
    Object holder = holder(transaction);
    if (holder != null) {
      ENDED.get().remove(holder);
    }
  }

  @Override
  public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
    afterCommit(transaction, failure);
  }

  /** Of a transaction, not of a savepoint within one: a nested one ends and the outer goes on. */
  private static @Nullable Object holder(TransactionExecution transaction) {
    return transaction.isNewTransaction()
            && transaction instanceof DefaultTransactionStatus status
            && status.hasTransaction()
            && status.getTransaction() instanceof JdbcTransactionObjectSupport jdbc
            && jdbc.hasConnectionHolder()
        ? jdbc.getConnectionHolder()
        : null;
  }
}
