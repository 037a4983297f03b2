package dev.postrider.spring;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * What becomes of messages that were written: committed, or rolled back with their transaction or
 * to a savepoint before them. Used by the thread of the transaction only.
 */
final class Publication implements TransactionSynchronization {
  private final Runnable committed;
  private final Runnable rolledBack;
  private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());
  private boolean ended;

  Publication(Runnable committed, Runnable rolledBack) {
    this.committed = committed;
    this.rolledBack = rolledBack;
  }

  private void end(boolean commit) {
    if (!ended) {
      ended = true;
      (commit ? committed : rolledBack).run();
    }
  }

  @Override
  public void savepoint(Object savepoint) {
    laterSavepoints.add(savepoint);
  }

  @Override
  public void savepointRollback(Object savepoint) {
    if (!laterSavepoints.contains(savepoint)) {
      end(false);
    }
  }

  @Override
  public void afterCommit() {
    end(true);
  }

  /** Also called if the listener of another failed in {@link #afterCommit}. */
  @Override
  public void afterCompletion(int status) {
    end(status == STATUS_COMMITTED);
  }
}
