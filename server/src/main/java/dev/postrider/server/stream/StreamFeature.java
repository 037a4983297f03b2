package dev.postrider.server.stream;

import dev.postrider.access.Permission;
import dev.postrider.access.Token;
import dev.postrider.access.Tokens;
import dev.postrider.internal.stream.StreamFilter;
import dev.postrider.internal.stream.StreamGoneException;
import dev.postrider.internal.stream.StreamLog;
import dev.postrider.internal.stream.StreamTail;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Feature;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Problem;
import dev.postrider.server.api.ProblemException;
import io.javalin.http.Context;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * {@code /v1/streams/events}: what the stream destination was given, pushed as it is committed, on
 * whichever server. Follows the log from its start until it is closed. Thread-safe.
 */
public final class StreamFeature implements Feature {
  /** The header that says, with 410, from where on there are events. */
  public static final String OLDEST = "Postrider-Oldest-Position";

  private static final String LAST_EVENT_ID = "Last-Event-ID";
  private static final String EARLIEST = "earliest";
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration RETRY_AFTER = Duration.ofSeconds(5);

  /** Each holds a thread that others need. */
  private static final int WAITING_MAX = 4;

  /** Those by which messages are found, as far as the log has them. */
  private static final List<Field> CONDITIONS =
      Conditions.MESSAGES.stream()
          .filter(field -> StreamFilter.NAMES.contains(field.name()))
          .toList();

  private final StreamLog streamLog;
  private final Hub hub;
  private final StreamTail tail;
  private final Semaphore waiting = new Semaphore(WAITING_MAX);

  private StreamFeature(
      DataSource dataSource, DataSource direct, Schema schema, StreamConfig config) {
    this.streamLog = new StreamLog(dataSource, schema);
    this.hub =
        new Hub(
            config, streamLog, new Revocations(new Tokens(dataSource, schema), config.heartbeat()));
    this.tail = new StreamTail(streamLog, direct, config.poll(), hub);
  }

  /**
   * Begins to follow the log.
   *
   * @param direct gives connections that LISTEN works on: not through a transaction-mode pooler
   */
  public static StreamFeature start(
      DataSource dataSource, DataSource direct, Schema schema, StreamConfig config) {
    StreamFeature feature = new StreamFeature(dataSource, direct, schema, config);
    feature.tail.start();
    feature.hub.start();
    return feature;
  }

  @Override
  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.get("/v1/streams/events", Permission.STREAM)
            .about(
                "streams",
                "Events as they are delivered, one JSON object per line, without end; as SSE with"
                    + " Accept: text/event-stream. Headers and payloads need payload:read")
            .scoped()
            .query(CONDITIONS)
            .query(
                Field.text(
                    "after",
                    "The last position seen, or earliest; without it the stream starts now"))
            .header(Field.text(LAST_EVENT_ID, "The same, as browsers send it; counts first"))
            .produces(Format.NDJSON.mediaType())
            .alsoProduces(Format.SSE.mediaType())
            .answers(StreamRecord.class)
            .problems(410)
            .handledBy(this::open));
  }

  /** Clients connected to this node. */
  public int clients() {
    return hub.clients();
  }

  private @Nullable Object open(Call call) throws SQLException, InterruptedException {
    if (!started()) {
      throw unavailable("the server has not found the stream yet; try again");
    }
    Subscription wanted = wanted(call);
    takePlace(wanted);
    Context context = call.context();
    context.contentType(wanted.format().mediaType());
    // Proxies that collect answers before they pass them on would hold events back.
    context.header("X-Accel-Buffering", "no");
    ClientConnection.open(
        context,
        connection -> hub.join(wanted, connection),
        () -> hub.places().giveBack(wanted.token(), wanted.address()));
    return null;
  }

  /** It is the matter of a moment, unless the database is away: few wait, and not for that. */
  private boolean started() throws InterruptedException {
    if (hub.window().awaitStart(Duration.ZERO)) {
      return true;
    }
    if (tail.failing() || !waiting.tryAcquire()) {
      return false;
    }
    try {
      return hub.window().awaitStart(PATIENCE);
    } finally {
      waiting.release();
    }
  }

  private void takePlace(Subscription wanted) {
    Places.@Nullable Full full = hub.places().take(wanted.token(), wanted.address());
    if (full == Places.Full.ALL) {
      throw unavailable("all places for stream clients are taken; try again, or elsewhere");
    } else if (full != null) {
      throw new ProblemException(
          Problem.of(
              429,
              "too-many-streams",
              "Too many streams",
              full == Places.Full.TOKEN
                  ? "the token has as many streams open as it may; close one, or use another token"
                  : "the address has as many streams open as it may; close one"),
          RETRY_AFTER);
    }
  }

  private Subscription wanted(Call call) throws SQLException {
    Token token = Objects.requireNonNull(call.caller().token(), "streams need a token");
    return new Subscription(
        after(call),
        new StreamFilter(Conditions.within(call.caller().scope(), call.query(), CONDITIONS)),
        Format.accepted(call.context().header("Accept")),
        call.may(Permission.PAYLOAD_READ),
        token,
        call.caller().address());
  }

  private long after(Call call) throws SQLException {
    @Nullable String header = call.headers().text(LAST_EVENT_ID);
    @Nullable String given = header == null ? call.query().text("after") : header;
    if (given == null) {
      return hub.window().last();
    } else if (given.equals(EARLIEST)) {
      return streamLog.oldest() - 1;
    } else if (!given.matches("[0-9]{1,18}")) {
      String field = header == null ? "after" : LAST_EVENT_ID;
      throw Problem.invalid(field, "must be a position, such as 4711, or " + EARLIEST)
          .toException();
    }
    return checked(call.context(), Long.parseLong(given));
  }

  /** A client that resumes learns at once if that is no longer possible. */
  private long checked(Context context, long after) throws SQLException {
    if (after > hub.window().last() || !hub.window().covers(after)) {
      try {
        streamLog.after(after, StreamFilter.ALL, 1);
      } catch (StreamGoneException e) {
        context.header(OLDEST, Long.toString(e.oldest()));
        throw Problem.of(410, "gone", "Gone", e.getMessage() + "; resume with after=" + EARLIEST)
            .toException();
      }
    }
    return after;
  }

  private static ProblemException unavailable(String detail) {
    return new ProblemException(
        Problem.of(503, "streams-unavailable", "Streams unavailable", detail), RETRY_AFTER);
  }

  @Override
  public void close() {
    tail.close();
    hub.close();
  }
}
