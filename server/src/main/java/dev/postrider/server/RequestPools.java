package dev.postrider.server;

import dev.postrider.server.api.Problem;
import dev.postrider.server.api.Threads;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Gives requests to threads that may wait for the database, but never for a caller. The web
 * server's own threads never wait. Health has threads of its own. Thread-safe.
 */
final class RequestPools extends Handler.Wrapper implements AutoCloseable {
  private static final int HEALTH_THREADS = 2;

  /** Beyond that an answer would come too late anyway. */
  private static final int WAITING_PER_THREAD = 32;

  private final OpenConnections openConnections;
  private final Set<String> health;
  private final ThreadPoolExecutor healthThreads;
  private final ThreadPoolExecutor threads;

  /**
   * @param health paths that are answered whatever else goes on
   */
  RequestPools(int threads, OpenConnections openConnections, Set<String> health) {
    this.openConnections = openConnections;
    this.health = Set.copyOf(health);
    this.healthThreads = pool("postrider-health", HEALTH_THREADS);
    this.threads = pool("postrider-http", threads);
  }

  private static ThreadPoolExecutor pool(String name, int size) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            size,
            size,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(size * WAITING_PER_THREAD),
            Threads.named(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** For work on requests that did not come at once. */
  Executor threads() {
    return threads;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    OpenConnection line = openConnections.of(request);
    Request taken = new Taken(request);
    line.begin(taken);
    Request.addCompletionListener(request, failure -> line.end());
    PacedResponse paced = new PacedResponse(taken, response, line, openConnections);
    try {
      lane(request).execute(() -> pass(taken, paced, paced.completing(callback)));
    } catch (RejectedExecutionException e) {
      JettyErrors.write(response, callback, Problem.overloaded());
    }
    return true;
  }

  /** Whoever shows a token wants details, which may take a while. */
  private Executor lane(Request request) {
    return health.contains(request.getHttpURI().getPath())
            && !request.getHeaders().contains(HttpHeader.AUTHORIZATION)
            && !request.getHeaders().contains(HttpHeader.COOKIE)
        ? healthThreads
        : threads;
  }

  private void pass(Request request, Response response, Callback callback) {
    try {
      if (!super.handle(request, response, callback)) {
        Response.writeError(request, response, callback, 404);
      }
    } catch (Throwable e) {
      Response.writeError(request, response, callback, e);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    healthThreads.shutdownNow();
  }

  /** A request without the header by which Javalin would take it for one with another method. */
  private static final class Taken extends Request.Wrapper {
    private static final String OVERRIDE = "X-HTTP-Method-Override";
    private final HttpFields headers;

    Taken(Request request) {
      super(request);
      HttpFields all = request.getHeaders();
      this.headers =
          all.contains(OVERRIDE) ? HttpFields.build(all).remove(OVERRIDE).asImmutable() : all;
    }

    @Override
    public HttpFields getHeaders() {
      return headers;
    }
  }
}
