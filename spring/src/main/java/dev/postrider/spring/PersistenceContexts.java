package dev.postrider.spring;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Writes the pending changes of entities, so that a message follows the rows it speaks of and a
 * key's lock is taken after theirs. Thread-safe.
 */
final class PersistenceContexts implements Runnable {
  private final ObjectProvider<EntityManagerFactory> factories;

  PersistenceContexts(ObjectProvider<EntityManagerFactory> factories) {
    this.factories = factories;
  }

  @Override
  public void run() {
    factories.stream()
        .filter(TransactionSynchronizationManager::hasResource)
        .forEach(PersistenceContexts::flush);
  }

  private static void flush(EntityManagerFactory factory) {
    EntityManager entities = EntityManagerFactoryUtils.getTransactionalEntityManager(factory);
    if (entities != null && entities.isJoinedToTransaction()) {
      entities.flush();
    }
  }
}
