package dev.postrider.server.stream;

import io.javalin.http.Context;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Function;

/**
 * The connection to a client, written to without ever blocking: by whoever finds it ready, one at a
 * time, and by the web server's threads when it becomes ready again.
 */
public interface ClientConnection {
  /** Hears of the connection. */
  interface Owner {
    /** It takes more; also called once at the beginning. */
    void ready();

    /** Nothing can be written any more. */
    void lost();
  }

  /**
   * Opens it when the handler of the request has returned.
   *
   * @param failed called instead, if that does not work
   */
  static void open(Context context, Function<ClientConnection, Owner> owner, Runnable failed) {
    HttpConnection.open(context, owner, failed);
  }

  /** If not, its owner hears when it is. */
  boolean ready();

  /** How long the connection has taken nothing; a write that waits may be taken bit by bit. */
  Duration idle();

  /** Only when ready. */
  void write(byte[] bytes) throws IOException;

  /** Only when ready. */
  void flush() throws IOException;

  /** Ends the response; also after the connection was lost. */
  void finish();

  /** Breaks the connection, though the client has not taken what was written. */
  void cut();
}
