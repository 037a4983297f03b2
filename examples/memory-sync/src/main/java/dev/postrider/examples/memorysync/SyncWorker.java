package dev.postrider.examples.memorysync;

import dev.postrider.error.DatabaseError;
import dev.postrider.lease.LeaseStore;
import dev.postrider.lease.StoreException;
import dev.postrider.message.Backoff;
import dev.postrider.message.Message;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Brings notes to the memory service, one after the other. Any number of workers may run; each has
 * a lease store of its own, which logs and counts every outcome under its code. Used by one thread.
 */
final class SyncWorker {
  /**
   * How a worker goes about it.
   *
   * @param lease longer than a call may take
   * @param maxAttempts after so many failures a note is dead
   */
  record Settings(int batch, Duration lease, Backoff backoff, int maxAttempts) {
    static final Settings DEFAULT = new Settings(10, Duration.ofMinutes(2), Backoff.WORKER, 5);
  }

  private final LeaseStore store;
  private final MemoryClient memory;
  private final Settings settings;

  SyncWorker(LeaseStore store, MemoryClient memory, Settings settings) {
    this.store = store;
    this.memory = memory;
    this.settings = settings;
  }

  /** Claims a batch and works through it; returns how many notes it claimed. */
  int flush() throws InterruptedException {
    try {
      List<Message> batch = store.claim(Notes.NAMESPACE, settings.batch(), settings.lease());
      for (Message message : batch) {
        sync(message);
      }
      return batch.size();
    } catch (StoreException e) {
      if (e.error() == DatabaseError.FATAL) {
        throw e;
      }
      return 0; // counted by the store; what this worker held is free again after the lease
    }
  }

  /** A false from the store means: somebody else has it. It has recorded that; drop the note. */
  private void sync(Message note) throws InterruptedException {
    Optional<LeaseStore.Earlier> earlier = store.checkDedup(note.route(), sha256(note.payload()));
    if (earlier.isPresent()) {
      store.ackSent(note.id(), earlier.get().reference());
      return;
    }
    if (!store.renewLease(note.id(), settings.lease())) { // the call may be long
      return;
    }
    Answer answer = memory.store(note);
    if (!store.renewLease(note.id(), settings.lease())) { // it was, and the answer must hold
      return;
    }
    settle(note, answer);
  }

  private void settle(Message note, Answer answer) {
    if (answer instanceof Answer.Stored stored) {
      store.ackSent(note.id(), stored.memoryId());
    } else if (answer instanceof Answer.Refused refused) {
      store.markDead(note.id(), refused.error());
    } else if (answer instanceof Answer.Failed failed) {
      retry(note, failed.error());
    }
  }

  private void retry(Message note, String error) {
    if (note.attempt() >= settings.maxAttempts()) {
      store.markDead(note.id(), error);
    } else {
      Duration pause = settings.backoff().delay(note.attempt());
      store.failRetry(note.id(), error, Instant.now().plus(pause));
    }
  }

  private static byte[] sha256(byte[] content) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(content);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }
}
