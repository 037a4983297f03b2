package dev.postrider.bench;

import dev.postrider.destination.Destination;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.relay.RouteOptions;
import dev.postrider.schema.Schema;
import java.util.concurrent.locks.LockSupport;

/** Makes relays that carry every topic of the namespace {@code bench}. Immutable. */
record Relays(BenchDatabase database, Schema schema, int carriers) {
  private static final long LISTENING_NANOS = 30_000_000_000L;

  /** Not started yet. */
  Relay to(Destination destination) {
    return to(destination, RouteOptions.DEFAULT);
  }

  Relay to(Destination destination, RouteOptions how) {
    return Relay.builder(database.dataSource())
        .schema(schema)
        .config(RelayConfig.defaults().withCarriers(carriers))
        .destination("here", destination)
        .route("bench", "*", "here", how)
        .build();
  }

  /** Waits until a started relay listens for the doorbell. */
  static void awaitListening(Relay relay) {
    long deadline = System.nanoTime() + LISTENING_NANOS;
    while (!relay.status().listening()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("the relay did not listen within 30 s");
      }
      LockSupport.parkNanos(1_000_000);
    }
  }
}
