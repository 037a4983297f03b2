package dev.postrider.docs;

import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Backoff;
import dev.postrider.message.Message;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The loop that docs/reference/lease-store.md shows; compiled and run by {@link OwnLoopTest}. */
final class OwnLoop {
  private static final Logger log = LoggerFactory.getLogger(OwnLoop.class);

  /** A remote service. */
  interface Memory {
    Result store(byte[] content);
  }

  record Result(@Nullable String reference, String error) {
    boolean ok() {
      return reference != null;
    }
  }

  private OwnLoop() {}

  static void flush(LeaseStore store, Memory memory) {
    // step 1
    Duration lease = Duration.ofMinutes(2);
    for (Message message : store.claim("memory", 10, lease)) {
      Optional<LeaseStore.Earlier> earlier =
          store.checkDedup(message.route(), sha256(message.payload()));
      if (earlier.isPresent()) {
        store.ackSent(message.id(), earlier.get().reference());
        continue;
      }
      if (!store.renewLease(message.id(), lease)) { // before a long call
        continue; // somebody else has the message: do not send it
      }
      Result result = memory.store(message.payload());
      boolean held =
          result.ok()
              ? store.ackSent(message.id(), result.reference())
              : store.failRetry(message.id(), result.error(), nextAttempt(message.attempt()));
      if (!held) {
        log.warn("somebody else has it: {}", store.describe(message.id())); // drop it
      }
    }
    // end
  }

  private static Instant nextAttempt(int attempts) {
    return Instant.now().plus(Backoff.WORKER.delay(attempts));
  }

  private static byte[] sha256(byte[] content) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(content);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }
}
