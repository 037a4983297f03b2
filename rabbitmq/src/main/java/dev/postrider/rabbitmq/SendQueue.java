package dev.postrider.rabbitmq;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What waits for a connection's network thread and its socket. The client writes in order only what
 * is written on the network thread: frames from another thread can come after its own answer to a
 * closed channel, and the broker then closes the connection. Thread-safe.
 */
final class SendQueue {
  /** More than this is not queued for the socket, besides the message that exceeds it. */
  private static final long BYTES_MAX = 1 << 20;

  private final NettyConnections.Open connections;
  private final AtomicLong handedOver = new AtomicLong();

  SendQueue(NettyConnections.Open connections) {
    this.connections = connections;
  }

  /** Runs this on the network thread; false if that one has ended. */
  boolean add(Runnable writes, long bytes) {
    handedOver.addAndGet(bytes);
    try {
      connections.onNetworkThread(
          () -> {
            handedOver.addAndGet(-bytes);
            writes.run();
          });
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  boolean hasRoom() {
    return handedOver.get() + connections.queuedBytes() <= BYTES_MAX;
  }
}
