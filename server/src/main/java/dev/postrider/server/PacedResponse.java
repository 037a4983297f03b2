package dev.postrider.server;

import dev.postrider.server.api.Call;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.IteratingCallback;
import org.jspecify.annotations.Nullable;

/**
 * Writes an answer as fast as the caller takes it. The thread that handles the request never waits:
 * it leaves a copy of what it writes, and goes on to the next request. {@link OpenConnections}
 * bounds the memory. Thread-safe.
 */
final class PacedResponse extends Response.Wrapper {
  private final OpenConnection line;
  private final OpenConnections openConnections;
  private final Writer writer = new Writer();
  private final Queue<Chunk> waiting = new ArrayDeque<>();
  private @Nullable Runnable end;
  private @Nullable Throwable failure;

  /** A part of the answer that the caller has not taken. */
  private record Chunk(boolean last, ByteBuffer bytes) {}

  PacedResponse(
      Request request, Response response, OpenConnection line, OpenConnections openConnections) {
    super(request, response);
    this.line = line;
    this.openConnections = openConnections;
  }

  @Override
  public void write(boolean last, @Nullable ByteBuffer bytes, Callback callback) {
    if (getRequest().getAttribute(Call.LASTING) != null) {
      super.write(last, bytes, callback);
      return;
    }
    Chunk chunk = new Chunk(last, copy(bytes));
    @Nullable Throwable broken = add(chunk);
    if (broken != null) {
      callback.failed(broken);
      return;
    }
    openConnections.hold(
        line, chunk.bytes.capacity()); // not under the lock: it may cut another answer
    writer.iterate();
    callback.succeeded();
  }

  /** The request is completed when everything is written. */
  Callback completing(Callback request) {
    return Callback.from(
        () -> end(request::succeeded), thrown -> end(() -> request.failed(thrown)));
  }

  private static ByteBuffer copy(@Nullable ByteBuffer bytes) {
    ByteBuffer copy = ByteBuffer.allocate(bytes == null ? 0 : bytes.remaining());
    if (bytes != null) {
      copy.put(bytes).flip();
    }
    return copy;
  }

  /** Returns why nothing can be written any more, or null. */
  private synchronized @Nullable Throwable add(Chunk chunk) {
    if (failure == null) {
      waiting.add(chunk);
    }
    return failure;
  }

  private void end(Runnable completion) {
    boolean now;
    synchronized (this) {
      end = completion;
      now = failure != null;
    }
    if (now) {
      completion.run();
    } else {
      writer.iterate();
    }
  }

  private synchronized @Nullable Chunk next() {
    return waiting.poll();
  }

  private synchronized @Nullable Runnable end() {
    return end;
  }

  /** Drops what is left. Returns how to complete the request, if it is to be completed already. */
  private synchronized @Nullable Runnable fail(Throwable cause) {
    failure = cause;
    waiting.forEach(chunk -> openConnections.release(line, chunk.bytes.capacity()));
    waiting.clear();
    return end;
  }

  /** Writes one chunk after the other. */
  private final class Writer extends IteratingCallback {
    private @Nullable Chunk current;

    @Override
    protected Action process() {
      written();
      Chunk chunk = next();
      current = chunk;
      if (chunk == null) {
        return end() == null ? Action.IDLE : Action.SUCCEEDED;
      }
      if (chunk.bytes.hasRemaining()) {
        line.writing(chunk.bytes.remaining());
      }
      PacedResponse.super.write(chunk.last, chunk.bytes, this);
      return Action.SCHEDULED;
    }

    private void written() {
      Chunk chunk = current;
      if (chunk != null) {
        line.written();
        openConnections.release(line, chunk.bytes.capacity());
      }
    }

    @Override
    protected void onCompleteSuccess() {
      run(end());
    }

    @Override
    protected void onCompleteFailure(Throwable cause) {
      written();
      run(fail(cause));
    }

    private static void run(@Nullable Runnable completion) {
      if (completion != null) {
        completion.run();
      }
    }

    @Override
    public InvocationType getInvocationType() {
      return InvocationType.NON_BLOCKING;
    }
  }
}
