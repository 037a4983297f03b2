package dev.postrider.spring;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The publications of one transaction. Spring's synchronizations belong to the innermost
 * transaction, which may be of another DataSource than the outbox, so each transaction gets its
 * list at its begin. Used by the thread of the transaction only.
 */
final class OpenPublications implements TransactionSynchronization {
  private static final ThreadLocal<Deque<OpenPublications>> OPEN =
      ThreadLocal.withInitial(ArrayDeque::new);

  private final Object holder;
  private final List<Publication> publications = new ArrayList<>();

  private OpenPublications(Object holder) {
    this.holder = holder;
  }

  /** A transaction has begun, and Spring's synchronizations are now its own. */
  static void begun(Object holder) {
    OpenPublications opened = new OpenPublications(holder);
    OPEN.get().push(opened);
    TransactionSynchronizationManager.registerSynchronization(opened);
  }

  /** Lets a publication hear of the end of the transaction with this connection holder. */
  static void add(Object holder, Publication publication) {
    for (OpenPublications open : OPEN.get()) {
      if (open.holder == holder) {
        open.publications.add(publication);
        return;
      }
    }
    TransactionSynchronizationManager.registerSynchronization(publication); // no bean manages it
  }

  @Override
  public void savepoint(Object savepoint) {
    publications.forEach(publication -> publication.savepoint(savepoint));
  }

  @Override
  public void savepointRollback(Object savepoint) {
    publications.forEach(publication -> publication.savepointRollback(savepoint));
  }

  @Override
  public void afterCommit() {
    publications.forEach(Publication::afterCommit);
  }

  @Override
  public void afterCompletion(int status) {
    OPEN.get().remove(this);
    publications.forEach(publication -> publication.afterCompletion(status));
  }
}
