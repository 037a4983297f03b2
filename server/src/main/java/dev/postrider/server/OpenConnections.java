package dev.postrider.server;

import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.server.access.Network;
import dev.postrider.server.access.Proxies;
import dev.postrider.server.api.Threads;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All connections. Where there are too many, of one caller or of all, the one that has waited
 * longest for its caller makes room, so that new callers get in. Those that are late are cut.
 * Thread-safe.
 */
final class OpenConnections implements Connection.Listener, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(OpenConnections.class);
  private static final long LOOK_MS = 100;
  private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Limits limits;
  private final long memory;
  private final Proxies proxies;
  private final Map<EndPoint, OpenConnection> openConnections = new ConcurrentHashMap<>();
  private final Map<Network, Integer> byCaller = new ConcurrentHashMap<>();
  private final ScheduledThreadPoolExecutor clock =
      new ScheduledThreadPoolExecutor(1, Threads.named("postrider-http-clock"));
  private final AtomicLong held = new AtomicLong();
  private long told = System.nanoTime() - TELL_NANOS;

  /**
   * @param memory bytes of all answers that wait to be taken
   */
  OpenConnections(Limits limits, long memory, Proxies proxies) {
    this.limits = limits;
    this.memory = memory;
    this.proxies = proxies;
    ScheduledFuture<?> unused =
        clock.scheduleWithFixedDelay(this::look, LOOK_MS, LOOK_MS, TimeUnit.MILLISECONDS);
  }

  /** The line that a request came by. */
  OpenConnection of(Request request) {
    Connection connection = request.getConnectionMetaData().getConnection();
    EndPoint network = network(connection.getEndPoint());
    // One that was closed meanwhile is not taken in again.
    @Nullable OpenConnection line = openConnections.get(network);
    return line == null ? new OpenConnection(network, connection, null) : line;
  }

  private static EndPoint network(EndPoint endPoint) {
    return endPoint instanceof EndPoint.Wrapper wrapper ? network(wrapper.unwrap()) : endPoint;
  }

  /** With TLS it is called twice: for the connection that encrypts, and for the one inside. */
  @Override
  public void onOpened(Connection connection) {
    EndPoint network = network(connection.getEndPoint());
    @Nullable OpenConnection known = openConnections.get(network);
    if (known != null) {
      known.speaks(connection);
      return;
    }
    OpenConnection line = new OpenConnection(network, connection, caller(network));
    openConnections.put(network, line);
    @Nullable Network caller = line.caller();
    if (caller != null) {
      int open = byCaller.merge(caller, 1, Integer::sum);
      makeRoom(line, open, limits.connections().perAddress(), caller::equals);
    }
    makeRoom(line, openConnections.size(), limits.connections().most(), any -> true);
  }

  /** Null for those that are not counted: a proxy has the connections of all its callers. */
  private @Nullable Network caller(EndPoint network) {
    SocketAddress peer = network.getRemoteSocketAddress();
    boolean proxy =
        peer instanceof InetSocketAddress inet
            && inet.getAddress() != null
            && proxies.trust(inet.getAddress());
    return proxy ? null : Network.ofPeer(peer);
  }

  /** One at a time, so that each cuts another one. */
  private synchronized void makeRoom(
      OpenConnection line, int open, int most, Predicate<@Nullable Network> of) {
    if (open <= most) {
      return;
    }
    tell(line.caller(), open);
    OpenConnection longest =
        openConnections.values().stream()
            .filter(other -> other != line && other.waiting() && of.test(other.caller()))
            .min(Comparator.comparingLong(other -> other.waitingSince() - line.waitingSince()))
            .orElse(line);
    forget(longest.network());
    longest.cut();
  }

  /** Answers that callers do not take use memory. The one that has waited longest makes room. */
  void hold(OpenConnection line, int bytes) {
    line.hold(bytes);
    if (held.addAndGet(bytes) > memory) {
      cutSlowest();
    }
  }

  void release(OpenConnection line, int bytes) {
    line.hold(-bytes);
    held.addAndGet(-bytes);
  }

  private void cutSlowest() {
    long now = System.nanoTime();
    openConnections.values().stream()
        .filter(OpenConnection::holding)
        .max(Comparator.comparingLong(line -> now - line.answeringSince()))
        .ifPresent(OpenConnection::cut);
  }

  private void tell(@Nullable Network caller, int open) {
    long now = System.nanoTime();
    if (now - told >= TELL_NANOS) {
      told = now;
      log.warn("{}", LogLine.of("too_many_connections").put("address", caller).put("open", open));
    }
  }

  @Override
  public void onClosed(Connection connection) {
    forget(network(connection.getEndPoint()));
  }

  private void forget(EndPoint network) {
    @Nullable OpenConnection line = openConnections.remove(network);
    if (line != null && line.caller() != null) {
      byCaller.computeIfPresent(line.caller(), (caller, open) -> open == 1 ? null : open - 1);
    }
  }

  private void look() {
    long now = System.nanoTime();
    for (OpenConnection line : openConnections.values()) {
      try {
        if (line.late(limits.times(), now)) {
          line.cut();
        }
      } catch (RuntimeException e) {
        // One connection must not stop the clock for all.
        log.warn("{}", LogLine.of("connection_check_failed").put("error", Silenced.text(e)));
      }
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
