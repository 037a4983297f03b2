package dev.postrider.server;

import dev.postrider.server.access.Network;
import dev.postrider.server.api.Call;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/**
 * One connection and what it is at: waiting for a request, or working on one. Thread-safe; {@link
 * #late} belongs to the thread that looks after all of them.
 */
final class OpenConnection {
  /** In which even a slow caller takes a little. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final EndPoint network;
  private final @Nullable Network caller;
  private volatile Connection connection;
  private volatile long waitingSince = System.nanoTime();
  private volatile boolean fresh = true;
  private volatile @Nullable Request request;
  private volatile long bytesBefore;
  private volatile long writeBegan;
  private volatile int writeBytes;
  private volatile long answeringSince;
  private final AtomicLong held = new AtomicLong();
  private boolean inHead;
  private long headBegan;

  /**
   * @param caller null if it is not counted
   */
  OpenConnection(EndPoint network, Connection connection, @Nullable Network caller) {
    this.network = network;
    this.connection = connection;
    this.caller = caller;
  }

  EndPoint network() {
    return network;
  }

  @Nullable Network caller() {
    return caller;
  }

  /** The connection inside TLS. */
  void speaks(Connection http) {
    connection = http;
  }

  /** For the caller: for a request, for the rest of its body, or to take the answer. */
  boolean waiting() {
    Request answered = request;
    return answered == null
        || holding()
        || (answered.getAttribute(Call.BODY) instanceof Future<?> body && !body.isDone());
  }

  /** When it was opened, or its last answer ended. */
  long waitingSince() {
    return waitingSince;
  }

  /** The head of a request is here. */
  void begin(Request begun) {
    writeBytes = 0;
    request = begun;
    fresh = false;
  }

  /** The answer is gone. */
  void end() {
    bytesBefore = connection.getBytesIn();
    waitingSince = System.nanoTime();
    request = null;
  }

  /** So many bytes more of its answer wait for the caller; a negative number was taken. */
  void hold(long bytes) {
    if (held.getAndAdd(bytes) == 0) {
      answeringSince = System.nanoTime();
    }
  }

  boolean holding() {
    return held.get() > 0;
  }

  /** When the answer that waits began to wait. */
  long answeringSince() {
    return answeringSince;
  }

  void writing(int bytes) {
    writeBegan = System.nanoTime();
    writeBytes = bytes;
  }

  void written() {
    writeBytes = 0;
  }

  /** Whether its time is over. The time of a body is checked by its reader. */
  boolean late(Limits.Times times, long now) {
    if (request != null) {
      inHead = false;
      int bytes = writeBytes;
      long nanos = GRACE_NANOS + TimeUnit.SECONDS.toNanos(bytes) / times.bytesPerSecond();
      return bytes > 0 && now - writeBegan > nanos;
    }
    if (!fresh && connection.getBytesIn() == bytesBefore) {
      inHead = false;
      return now - waitingSince > times.idle().toNanos();
    }
    if (!inHead) {
      inHead = true;
      headBegan = fresh ? waitingSince : now;
    }
    return now - headBegan > times.head().toNanos();
  }

  void cut() {
    network.close(new EofException("the caller is too slow, or makes room"));
  }
}
