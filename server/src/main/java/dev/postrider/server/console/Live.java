package dev.postrider.server.console;

import dev.postrider.access.Permission;
import dev.postrider.access.Token;
import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.monitor.Attempt;
import dev.postrider.internal.monitor.DeliveryTail;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.message.AttemptState;
import dev.postrider.observe.Backlog;
import dev.postrider.operations.Pauses;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Problem;
import dev.postrider.server.api.ProblemException;
import dev.postrider.server.api.Threads;
import dev.postrider.server.operate.Status;
import dev.postrider.server.stream.ClientConnection;
import dev.postrider.server.stream.Places;
import dev.postrider.server.stream.StreamConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the database for all browsers together: however many there are, it is read as often.
 * Outcomes are read twice a second while somebody watches, else every two seconds for the charts.
 * Thread-safe.
 */
final class Live implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Live.class);
  private static final long TICK_MS = 400;
  private static final long UNWATCHED_TICKS = 5;
  private static final Duration STATEMENT_MAX = Duration.ofSeconds(2);
  private static final Duration KEEP_EVERY = Duration.ofSeconds(8);
  private static final Duration EXAMINE_EVERY = Duration.ofMinutes(1);
  private static final int OUTCOMES_MAX = 100;
  private static final Duration POINT_LATE = Duration.ofSeconds(10);
  private static final StreamConfig.Places PLACES = new StreamConfig.Places(512, 256, 256);
  private static final String SSE = "text/event-stream";
  private static final String LAST_EVENT_ID = "Last-Event-ID";
  private static final Duration RETRY_AFTER = Duration.ofSeconds(5);

  private final DataSource dataSource;
  private final Schema schema;
  private final Callable<List<Warning>> doctor;
  private final Database database;
  private final History history;
  private final Fleet fleet;
  private final Pauses pauses;
  private final BlockedKeys keys;
  private final Rates rates = new Rates();
  private final Viewers viewers = new Viewers(System::currentTimeMillis);
  private final Places places = new Places(PLACES);
  private final ScheduledThreadPoolExecutor threads =
      new ScheduledThreadPoolExecutor(2, Threads.named("postrider-console"));
  private final DeliveryTail tail = new DeliveryTail(false);
  private volatile boolean begun;
  private volatile boolean failing;
  private long ticks;
  private long examinedNanos;
  private volatile Instant keptAt = Instant.EPOCH;
  private volatile List<Warning> warnings = List.of();
  private volatile @Nullable LiveEvent last;
  private volatile boolean closed;

  Live(DataSource dataSource, Schema schema, Callable<List<Warning>> doctor) {
    this.dataSource = dataSource;
    this.schema = schema;
    this.doctor = doctor;
    this.database = new Database(dataSource, schema);
    this.history = new History(database);
    this.fleet = new Fleet(dataSource, schema);
    this.pauses = new Pauses(dataSource, schema);
    this.keys = new BlockedKeys(dataSource, schema);
  }

  void start() {
    ScheduledFuture<?> unused =
        threads.scheduleWithFixedDelay(this::tick, 0, TICK_MS, TimeUnit.MILLISECONDS);
    ScheduledFuture<?> unusedToo =
        threads.scheduleWithFixedDelay(this::examine, 0, 1, TimeUnit.SECONDS);
  }

  Endpoint endpoint() {
    return Endpoint.get("/v1/live", Permission.READ)
        .about(
            "overview",
            "What the console shows, as server-sent events: the status every two seconds, points"
                + " for charts, and what became of messages. Ends after a minute; open it again")
        .header(Field.text(LAST_EVENT_ID, "As browsers send it: what came after that only"))
        .produces(SSE)
        .answers(LiveEvent.class)
        .handledBy(this::open);
  }

  private @Nullable Object open(Call call) {
    @Nullable String seen = call.headers().text(LAST_EVENT_ID);
    long after = seen != null && seen.matches("[0-9]{1,15}") ? Long.parseLong(seen) : 0;
    Token token = Objects.requireNonNull(call.caller().token());
    String address = call.caller().address();
    if (places.take(token, address) != null) {
      throw new ProblemException(
          Problem.of(
              429, "too-many-streams", "Too many streams", "too many consoles are open; close one"),
          RETRY_AFTER);
    }
    call.context().contentType(SSE);
    call.context().header("X-Accel-Buffering", "no"); // proxies must not collect events
    Runnable left = () -> places.giveBack(token, address);
    ClientConnection.open(call.context(), connection -> join(connection, after, left), left);
    return null;
  }

  private Viewer join(ClientConnection connection, long after, Runnable left) {
    Viewer viewer =
        new Viewer(
            connection,
            after,
            gone -> {
              viewers.leave(gone);
              left.run();
            },
            System::nanoTime);
    @Nullable LiveEvent now = last;
    viewers.join(viewer, now == null ? null : withPoints(now, viewer));
    if (closed) {
      viewer.end();
    }
    return viewer;
  }

  /** With all points that it does not have; none before those of other servers are read. */
  private LiveEvent withPoints(LiveEvent sample, Viewer viewer) {
    if (!begun) {
      return sample;
    }
    viewer.catchUp();
    // A point is made a moment before its event; the browser leaves out those that it has.
    return sample.with(rates.after(viewer.after() - POINT_LATE.toMillis()));
  }

  /** The backlog was read. */
  void beat(Backlog backlog, Fleet.State relays) {
    try {
      Instant now = Instant.now();
      Status status =
          Status.of(
              backlog,
              Database.within(STATEMENT_MAX, () -> Status.blocked(backlog, keys)),
              relays,
              Database.within(STATEMENT_MAX, pauses::list));
      @Nullable List<@Nullable Double> point = rates.point(now, backlog);
      LiveEvent sample = LiveEvent.sample(now, status, warnings, null);
      last = sample;
      viewers.sample(
          point == null ? sample : sample.with(List.of(point)),
          viewer -> withPoints(sample, viewer));
      if (point != null && keptAt.plus(KEEP_EVERY).isBefore(now)) {
        keptAt = now;
        history.keep(point);
      }
    } catch (Exception e) {
      failed(e);
    }
  }

  /** Nothing may escape: the executor would never call again. */
  private void tick() {
    try {
      viewers.tick();
      boolean watched = viewers.watched();
      if (watched || ticks++ % UNWATCHED_TICKS == 0) {
        boolean died = Database.within(STATEMENT_MAX, () -> read(watched));
        if (watched && died) {
          refresh();
        }
        failing = false;
      }
    } catch (Exception e) {
      failed(e);
    }
  }

  /** Looks for what to warn about, once a minute while somebody watches. */
  private void examine() {
    try {
      long now = System.nanoTime();
      boolean due = examinedNanos == 0 || now - examinedNanos > EXAMINE_EVERY.toNanos();
      if (!viewers.isEmpty() && due) {
        examinedNanos = now;
        warnings = List.copyOf(Database.within(STATEMENT_MAX, doctor::call));
      }
    } catch (Exception e) {
      failed(e);
    }
  }

  /** Holds a connection for the moment of reading only. Returns whether a message died. */
  private boolean read(boolean watched) throws SQLException {
    try (Database.Session session = database.open()) {
      List<Attempt> fresh = tail.attempts(session);
      rates.enqueuedEver(DeliveryTail.enqueued(session));
      if (!begun) {
        rates.restore(History.read(session));
        begun = true; // those are from before
        return false;
      }
      rates.count(fresh, tail.share());
      if (watched && !fresh.isEmpty()) {
        List<Attempt> shown = shown(fresh);
        viewers.outcomes(
            LiveEvent.outcomes(
                Instant.now(),
                tail.complete(session, shown).stream().map(LiveEvent.Outcome::of).toList(),
                fresh.size() - shown.size()));
      }
      return fresh.stream().anyMatch(attempt -> attempt.state() == AttemptState.FAILED);
    }
  }

  /** The newest, and of those that died more than of those that did not. */
  private static List<Attempt> shown(List<Attempt> fresh) {
    if (fresh.size() <= OUTCOMES_MAX) {
      return fresh;
    }
    List<Attempt> shown = new ArrayList<>();
    for (int i = fresh.size() - 1; i >= 0 && shown.size() < OUTCOMES_MAX / 2; i--) {
      if (fresh.get(i).state() == AttemptState.FAILED) {
        shown.add(fresh.get(i));
      }
    }
    for (int i = fresh.size() - 1; i >= 0 && shown.size() < OUTCOMES_MAX; i--) {
      if (fresh.get(i).state() != AttemptState.FAILED) {
        shown.add(fresh.get(i));
      }
    }
    shown.sort(java.util.Comparator.comparing(Attempt::finishedAt));
    return shown;
  }

  /** A death is shown at once, not with the next sample. */
  private void refresh() throws Exception {
    Backlog backlog;
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(true);
      backlog = Backlog.read(connection, schema);
    }
    beat(backlog, Database.within(STATEMENT_MAX, fleet::read));
  }

  private void failed(Exception e) {
    if (!failing && !closed) {
      failing = true; // said once, until it works again
      log.warn("{}", LogLine.of("console_unreadable").put("error", Silenced.text(e)));
    }
  }

  @Override
  public void close() {
    closed = true;
    viewers.end();
    threads.shutdown();
    try {
      if (!threads.awaitTermination(2, TimeUnit.SECONDS)) {
        threads.shutdownNow();
      }
    } catch (InterruptedException e) {
      threads.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
