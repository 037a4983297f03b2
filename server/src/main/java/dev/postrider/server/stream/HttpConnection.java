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

/** The connection of a request. */
final class HttpConnection implements ClientConnection {
  private static final Logger log = LoggerFactory.getLogger(HttpConnection.class);

  private final Context context;
  private final ServletOutputStream out;
  private final CompletableFuture<@Nullable Void> done = new CompletableFuture<>();

  private HttpConnection(Context context) throws IOException {
    this.context = context;
    this.out = context.res().getOutputStream();
  }

  static void open(Context context, Function<ClientConnection, Owner> owner, Runnable failed) {
    context.future(
        () -> {
          try {
            HttpConnection connection = new HttpConnection(context);
            connection.listen(owner.apply(connection));
            return connection.done;
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

  @Override
  public boolean ready() {
    return out.isReady();
  }

  @Override
  public Duration idle() {
    EndPoint endPoint = endPoint();
    while (endPoint instanceof EndPoint.Wrapper outer) {
      endPoint = outer.unwrap();
    }
    return endPoint instanceof IdleTimeout watched
        ? Duration.ofMillis(watched.getIdleFor())
        : Duration.ZERO;
  }

  @Override
  public void write(byte[] bytes) throws IOException {
    out.write(bytes);
  }

  @Override
  public void flush() throws IOException {
    out.flush();
  }

  @Override
  public void finish() {
    done.complete(null);
  }

  @Override
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
