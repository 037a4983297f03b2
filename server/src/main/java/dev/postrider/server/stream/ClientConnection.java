package dev.postrider.server.stream;

import dev.postrider.internal.text.LogLine;
import dev.postrider.server.api.Call;
import io.javalin.http.Context;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.IdleTimeout;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to a client, written to without ever blocking: by whoever finds it ready, one at a
 * time, and by the web server's threads when it becomes ready again.
 */
public final class ClientConnection {
  private static final Logger log = LoggerFactory.getLogger(ClientConnection.class);

  /** Hears of the connection. */
  public interface Owner {
    /** It takes more; also called once at the beginning. */
    void ready();

    /** Nothing can be written any more. */
    void lost();
  }

  private final Context context;
  private final ServletOutputStream out;
  private final CompletableFuture<@Nullable Void> done = new CompletableFuture<>();

  private ClientConnection(Context context) throws IOException {
    this.context = context;
    this.out = context.res().getOutputStream();
  }

  /**
   * Opens it when the handler of the request has returned.
   *
   * @param failed called instead, if that does not work
   */
  public static void open(
      Context context, Function<ClientConnection, Owner> owner, Runnable failed) {
    context.future(
        () -> {
          try {
            ClientConnection clientConnection = new ClientConnection(context);
            clientConnection.listen(owner.apply(clientConnection));
            return clientConnection.done;
          } catch (IOException e) {
            failed.run();
            return CompletableFuture.failedFuture(e);
          }
        });
  }

  private void listen(Owner owner) {
    context.attribute(Call.LASTING, true);
    // A stream has no end of its own; heartbeats find out whether somebody is there.
    context.req().getAsyncContext().setTimeout(0);
    out.setWriteListener(
        new WriteListener() {
          @Override
          public void onWritePossible() {
            owner.ready();
          }

          @Override
          public void onError(Throwable error) {
            log.debug("{}", LogLine.of("stream_client_lost").put("error", error.getMessage()));
            owner.lost();
          }
        });
  }

  /** If not, its owner hears when it is. */
  public boolean ready() {
    return out.isReady();
  }

  /** How long the connection has taken nothing; a write that waits may be taken bit by bit. */
  public Duration idle() {
    EndPoint endPoint = endPoint();
    while (endPoint instanceof EndPoint.Wrapper outer) {
      endPoint = outer.unwrap();
    }
    return endPoint instanceof IdleTimeout watched
        ? Duration.ofMillis(watched.getIdleFor())
        : Duration.ZERO;
  }

  /** Only when ready. */
  public void write(byte[] bytes) throws IOException {
    out.write(bytes);
  }

  /** Only when ready. */
  public void flush() throws IOException {
    out.flush();
  }

  /** Ends the response; also after the connection was lost. */
  public void finish() {
    done.complete(null);
  }

  /** Breaks the connection, though the client has not taken what was written. */
  public void cut() {
    endPoint().close();
  }

  private EndPoint endPoint() {
    return ServletContextRequest.getServletContextRequest(context.req())
        .getConnectionMetaData()
        .getConnection()
        .getEndPoint();
  }
}
