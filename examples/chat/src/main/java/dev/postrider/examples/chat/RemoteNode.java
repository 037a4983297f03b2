package dev.postrider.examples.chat;

import dev.postrider.examples.stage.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A node in a process of its own, which may be killed and started again. Used by one thread. */
final class RemoteNode implements AutoCloseable {
  private static final int START_SECONDS = 30;

  private final String jdbcUrl;
  private final int port;
  private @Nullable ChildProcess process;

  /** Not started yet. */
  RemoteNode(String jdbcUrl) throws IOException {
    this.jdbcUrl = jdbcUrl;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      this.port = free.getLocalPort(); // the same each time, as browsers know it
    }
  }

  String url() {
    return "http://127.0.0.1:" + port;
  }

  /** Returns when it answers. */
  void start() throws InterruptedException {
    process = ChildProcess.start(ChatNode.class, jdbcUrl, Integer.toString(port));
    long latest = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!answers()) {
      if (System.nanoTime() > latest) {
        throw new IllegalStateException("no answer from " + url() + " in " + START_SECONDS + " s");
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  private boolean answers() throws InterruptedException {
    try {
      return new ChatClient(url(), "none").get("/v1/health/ready").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  void kill() {
    if (process != null) {
      process.kill();
    }
  }

  @Override
  public void close() {
    if (process != null) {
      process.close();
    }
  }
}
