package dev.postrider.bench.peer;

import java.util.concurrent.locks.LockSupport;

/** A session that handles what comes until it is closed. Used by one thread. */
record Listening(Peer.Role role, Peer.Session session, Arrivals arrivals) implements AutoCloseable {

  static Listening start(Peer peer, Site site, Peer.Role role, int count) throws Exception {
    Arrivals arrivals = new Arrivals(count);
    Peer.Session session = peer.open(site, role, arrivals);
    session.start();
    session.awaitListening();
    return new Listening(role, session, arrivals);
  }

  /** When each message first came, after waiting so long for all of them. */
  String await(long millis) {
    long deadline = System.nanoTime() + millis * 1_000_000;
    while (!arrivals.complete() && System.nanoTime() < deadline) {
      LockSupport.parkNanos(1_000_000);
    }
    return arrivals.times();
  }

  @Override
  public void close() throws Exception {
    session.close();
  }
}
