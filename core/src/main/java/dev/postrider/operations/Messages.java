package dev.postrider.operations;

import dev.postrider.error.RefusedException;
import dev.postrider.internal.jdbc.Database;
import dev.postrider.internal.text.Json;
import dev.postrider.message.AttemptState;
import dev.postrider.message.Message;
import dev.postrider.message.MessageState;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Looks messages up. Reads only, by index only. Thread-safe if the data source is. */
public final class Messages {
  /** The most that one page holds. */
  public static final int MAX_PAGE = 1000;

  private static final int IN_STATE_MAX = 2000;
  private static final int IN_STATE_PAGE = 500;

  private static final UUID FIRST = new UUID(0, 0);

  private static final String BY_ID = "select * from postrider.message_state where id = ?";

  private static final String CONTENT =
      """
      select s.*, m.content_type, m.is_json, m.headers, m.payload
        from postrider.message_state s join postrider.message m on m.id = s.id where s.id = ?
      """;

  // The page is cut from the aggregate's index before the view is asked: a limit on the view itself
  // would leave it to the planner whether the view is computed for all messages of the aggregate.
  // "offset 0" keeps the view's joins apart from those around it: together there are more than the
  // planner reorders, and it then computes the view for every message of the log.
  static final String BY_AGGREGATE =
      """
      select s.*
        from (select m.id from postrider.message m
               where m.aggregate_type = ? and m.aggregate_id = ? and m.id > ?
               order by m.id limit ?) page
        cross join lateral (select * from postrider.message_state v where v.id = page.id offset 0) s
       order by s.id
      """;

  // By the key's index, a few steps to either side.
  static final String NEIGHBOURS =
      """
      select v.*
        from (select m.key_id, m.sequence from postrider.message m where m.id = ?) me
       cross join lateral (
         (select m.id, m.sequence from postrider.message m
           where m.key_id = me.key_id and m.sequence < me.sequence order by m.sequence desc limit ?)
         union all
         (select m.id, m.sequence from postrider.message m
           where m.key_id = me.key_id and m.sequence > me.sequence order by m.sequence limit ?)) n
       cross join lateral (select * from postrider.message_state v where v.id = n.id offset 0) v
       order by n.sequence
      """;

  private static final String SEARCH =
      """
      select s.p_before, s.done, v.*
        from postrider.message_scan(?::jsonb, ?, ?::uuid) s
        left join lateral unnest(s.hits) with ordinality i(hit, place) on true
        left join lateral (select * from postrider.message_state v where v.id = i.hit offset 0) v on true
       order by i.place
      """;

  /** Scans of 5,000 messages each, after which a search comes back with what it has. */
  /** How many steps a page is looked for; each looks at 5,000 at most. */
  public static final int SCANS_MAX = 20;

  private static final String ATTEMPTS =
      """
      select * from postrider.attempt_history where message_id = ?
       order by coalesce(finished_at, 'infinity'), delivery, no
      """;

  private static final String DELIVERIES =
      "select * from postrider.delivery_state where id = ? order by subscription";

  private static final String ATTEMPTS_OF =
      """
      select * from postrider.attempt_history where message_id = any (?)
       order by coalesce(finished_at, 'infinity'), delivery, no
      """;

  private final Database database;

  public Messages(DataSource dataSource, Schema schema) {
    this.database = new Database(dataSource, schema);
  }

  public Optional<MessageStatus> status(UUID id) throws SQLException {
    return database.list(BY_ID, Messages::status, id).stream().findFirst();
  }

  /** The message with its headers and payload. */
  public Optional<StoredMessage> find(UUID id) throws SQLException {
    return database.list(CONTENT, Messages::content, id).stream().findFirst();
  }

  /** The message's timeline, oldest first; an attempt that runs comes last. */
  public List<AttemptRecord> attempts(UUID id) throws SQLException {
    return database.list(ATTEMPTS, Messages::attempt, id);
  }

  /**
   * The message's deliveries, one for each subscription that it went or goes to. Empty if all are
   * done and their attempts were removed.
   */
  public List<DeliveryStatus> deliveries(UUID id) throws SQLException {
    return database.list(DELIVERIES, Messages::delivery, id);
  }

  /** The timelines of several messages, by id; one without attempts is not among them. */
  public Map<UUID, List<AttemptRecord>> attempts(List<UUID> ids) throws SQLException {
    Map<UUID, List<AttemptRecord>> timelines = new HashMap<>();
    if (!ids.isEmpty()) {
      database.list(
          ATTEMPTS_OF,
          row ->
              timelines
                  .computeIfAbsent(row.getObject("message_id", UUID.class), i -> new ArrayList<>())
                  .add(attempt(row)),
          ids);
    }
    return timelines;
  }

  /**
   * All messages of an aggregate in the order of their ids, a page at a time.
   *
   * @param after the last id of the page before, null for the first page
   */
  public List<MessageStatus> ofAggregate(
      String aggregateType, String aggregateId, @Nullable UUID after, int limit)
      throws SQLException {
    return database.list(
        BY_AGGREGATE,
        Messages::status,
        aggregateType,
        aggregateId,
        after == null ? FIRST : after,
        pageSize(limit));
  }

  /**
   * The messages of the same key next to this one, in the order of the key; none without a key.
   *
   * @param each at most so many before it, and so many behind
   */
  public List<MessageStatus> neighbours(UUID id, int each) throws SQLException {
    return database.list(NEIGHBOURS, Messages::status, id, pageSize(each), each);
  }

  /**
   * Searches, the newest first, by the narrowest index that the conditions allow. Looks at no more
   * than 100,000 messages a call: a rare condition needs several.
   *
   * @param before what the page before said is next, null for the first page
   */
  public MessagePage search(MessageFilter filter, @Nullable UUID before, int limit)
      throws SQLException {
    List<MessageStatus> items = new ArrayList<>();
    @Nullable UUID position = before;
    pageSize(limit);
    try (Database.Session session = database.open()) {
      for (int scan = 0; scan < SCANS_MAX && items.size() < limit; scan++) {
        List<Scanned> rows =
            session.list(SEARCH, Messages::scanned, filter.json(), limit - items.size(), position);
        rows.stream().map(Scanned::message).filter(Objects::nonNull).forEach(items::add);
        position = rows.get(0).position();
        if (rows.get(0).done()) {
          return new MessagePage(items, null);
        }
      }
    }
    return new MessagePage(items, position);
  }

  /**
   * The same, those in one state. The state is not in an index: it is looked up for each message,
   * for {@value #IN_STATE_MAX} at most a call.
   */
  public MessagePage search(
      MessageFilter filter, MessageState state, @Nullable UUID before, int limit)
      throws SQLException {
    List<MessageStatus> found = new ArrayList<>();
    @Nullable UUID next = before;
    pageSize(limit);
    for (int looked = 0; looked < IN_STATE_MAX; looked += IN_STATE_PAGE) {
      MessagePage page = search(filter, next, IN_STATE_PAGE);
      for (MessageStatus message : page.items()) {
        if (message.state() == state) {
          found.add(message);
          if (found.size() == limit) {
            return new MessagePage(found, message.id());
          }
        }
      }
      next = page.next();
      if (next == null) {
        break;
      }
    }
    return new MessagePage(found, next);
  }

  private record Scanned(@Nullable MessageStatus message, @Nullable UUID position, boolean done) {}

  private static Scanned scanned(ResultSet row) throws SQLException {
    return new Scanned(
        row.getObject("id") == null ? null : status(row),
        row.getObject("p_before", UUID.class),
        row.getBoolean("done"));
  }

  /** Refuses a page size that is not from 1 to {@link #MAX_PAGE}. */
  public static int pageSize(int limit) {
    if (limit < 1 || limit > MAX_PAGE) {
      throw new RefusedException("limit must be from 1 to " + MAX_PAGE + ", got " + limit);
    }
    return limit;
  }

  private static MessageStatus status(ResultSet row) throws SQLException {
    return new MessageStatus(
        row.getObject("id", UUID.class),
        new Route(row.getString("namespace"), row.getString("topic")),
        row.getString("tenant"),
        row.getString("aggregate_type"),
        row.getString("aggregate_id"),
        row.getString("event_type"),
        row.getString("ordering_key"),
        row.getObject("sequence", Long.class),
        row.getString("dedupe_key"),
        MessageState.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
        row.getInt("attempts"),
        row.getInt("delivery"),
        Database.instant(row, "next_attempt_at"),
        row.getString("locked_by"),
        Database.instant(row, "locked_until"),
        row.getString("last_code"),
        row.getString("last_error"),
        Database.instant(row, "created_at"),
        Database.instant(row, "updated_at"));
  }

  private static StoredMessage content(ResultSet row) throws SQLException {
    @Nullable String type = row.getString("content_type");
    return new StoredMessage(
        status(row),
        type == null ? Message.JSON : type,
        row.getBoolean("is_json"),
        Json.read(row.getString("headers")),
        row.getBytes("payload"));
  }

  private static DeliveryStatus delivery(ResultSet row) throws SQLException {
    return new DeliveryStatus(
        row.getString("subscription"),
        MessageState.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
        row.getInt("attempts"),
        row.getInt("delivery"),
        Database.instant(row, "next_attempt_at"),
        row.getString("locked_by"),
        Database.instant(row, "locked_until"),
        row.getString("last_code"),
        row.getString("last_error"),
        Database.instant(row, "updated_at"));
  }

  private static AttemptRecord attempt(ResultSet row) throws SQLException {
    return new AttemptRecord(
        row.getInt("delivery"),
        row.getInt("no"),
        AttemptState.valueOf(row.getString("state")),
        Database.instant(row, "claimed_at"),
        Database.instant(row, "finished_at"),
        row.getObject("latency_ms", Integer.class),
        row.getString("worker"),
        row.getString("code"),
        row.getString("error"),
        row.getString("reference"),
        row.getString("subscription"));
  }
}
