package dev.postrider.lease;

import dev.postrider.message.Message;
import dev.postrider.message.PostriderException;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.message.Route;
import dev.postrider.message.Settlement.Decision;
import dev.postrider.schema.Schema;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Claims and settles messages one call at a time, for people who write their own loop. Every call
 * is a transaction of its own. What is settled or renewed must be held by this worker: otherwise
 * the answer is false, nothing changes, and the conflict is recorded among the message's attempts.
 *
 * <p>A worker's name must be its own: two that share one could settle each other's messages. A
 * lease counts by the database's clock, and is held until it has lapsed and another claim has taken
 * it.
 *
 * <p>Messages of one key come in their order. Send them in that order, and when one fails release
 * those behind it. Thread-safe.
 */
public final class LeaseStore {
  /** A message with the same content that was delivered before. */
  public record Earlier(UUID id, String reference) {}

  private static final Instant LATEST = Instant.parse("9999-01-01T00:00:00Z");

  private static final long SEEN_EVERY = Duration.ofMinutes(1).toNanos();

  private static final String WORKER = "select postrider.worker_id(?)";

  private static final String SETTLE = "select postrider.settle_held(?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String RENEW = "select postrider.renew_held(?, ?, ?, ?)";
  private static final String DESCRIBE =
      """
      select d.id, d.subscription, d.state, d.attempts, d.delivery, d.next_attempt_at, d.locked_by,
             d.locked_until, d.last_error
        from postrider.delivery_state d
        left join postrider.route r
          on r.id = any (?) and r.namespace = d.namespace and r.topic = d.topic
       where d.id = ?
       order by d.locked_by is distinct from ?::text,
             d.subscription <> coalesce(r.subscription, ''), d.subscription limit 1
      """;
  private final Schema schema;
  private final String worker;
  private final OneSubscription subscription;
  private final LeaseOptions options;
  private final LeaseEvents events;
  private final QueryRunner queries;
  private final LongSupplier nanoTime;
  private volatile int workerId;
  private volatile long askedNanos;
  private final LeaseClaims claims;
  private final DeliveredContent delivered;

  public LeaseStore(DataSource dataSource, Schema schema, String worker) {
    this(dataSource, schema, worker, LeaseOptions.DEFAULT);
  }

  public LeaseStore(DataSource dataSource, Schema schema, String worker, LeaseOptions options) {
    this(dataSource, schema, worker, options, System::nanoTime);
  }

  LeaseStore(
      DataSource dataSource,
      Schema schema,
      String worker,
      LeaseOptions options,
      LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.schema = schema;
    this.worker = worker;
    this.subscription = new OneSubscription(worker);
    this.options = options;
    this.events = new LeaseEvents(worker, options.listener());
    this.queries =
        new QueryRunner(dataSource, schema, (int) options.timeout().toSeconds(), events::failed);
    this.claims = new LeaseClaims(queries, schema, options.maxBytes());
    this.delivered = new DeliveredContent(queries, schema);
  }

  /**
   * Takes due messages of all topics of a namespace: those without a key oldest first, of each key
   * the next ones. A message that lost several leases comes alone, so that it takes no others with
   * it should it kill this worker too.
   */
  public List<Message> claim(String namespace, int limit, Duration lease) {
    subscription.check(namespace);
    return claim(new @Nullable String[][] {{namespace}, {null}, {""}}, limit, lease);
  }

  /**
   * Takes due messages of these topics, or of their named subscriptions. A key whose next message
   * is of another topic waits. A worker takes one subscription of a topic, since it settles a
   * message by its id; a second one is refused.
   */
  public List<Message> claim(Collection<Route> routes, int limit, Duration lease) {
    subscription.check(routes);
    @Nullable String[] namespaces = routes.stream().map(Route::namespace).toArray(String[]::new);
    @Nullable String[] topics = routes.stream().map(Route::topic).toArray(String[]::new);
    @Nullable String[] names = routes.stream().map(Route::subscription).toArray(String[]::new);
    return claim(new @Nullable String[][] {namespaces, topics, names}, limit, lease);
  }

  private List<Message> claim(@Nullable String[][] routes, int limit, Duration lease) {
    if (limit < 1) {
      throw new PostriderException("limit must be at least 1, got " + limit);
    }
    return claims.take(workerId(), routes, limit, millis(lease));
  }

  /** Delivered, with what the destination calls it. */
  public boolean ackSent(UUID id, @Nullable String remoteRef) {
    return settle(List.of(id), HeldSettlement.of(Decision.DELIVERED).withReference(remoteRef))
        .isEmpty();
  }

  /** Delivered, all of them; returns the ids that this worker no longer holds. */
  public Set<UUID> ackSent(Collection<UUID> ids) {
    return settle(ids, HeldSettlement.of(Decision.DELIVERED));
  }

  /** Delivered. */
  public boolean ack(UUID id) {
    return ackSent(id, null);
  }

  /** To be tried again at this instant, by the database's clock, whatever the retry policy says. */
  public boolean failRetry(UUID id, String error, Instant nextAttemptAt) {
    if (nextAttemptAt.isAfter(LATEST)) {
      throw new PostriderException(
          "nextAttemptAt must lie before " + LATEST + ", got " + nextAttemptAt);
    }
    return settle(List.of(id), HeldSettlement.of(Decision.RETRY).withError(error).at(nextAttemptAt))
        .isEmpty();
  }

  /** To be tried again as the retry policy says, or dead when that allows no more attempts. */
  public boolean nack(UUID id, String error) {
    int attempts = describe(id).map(CurrentState::attempts).orElse(0);
    if (attempts >= options.retry().maxAttempts()) {
      return markDead(id, error);
    }
    Duration delay = options.retry().backoff().delay(attempts);
    return settle(List.of(id), HeldSettlement.of(Decision.RETRY).withError(error).after(delay))
        .isEmpty();
  }

  /** Never to be tried again, unless an operator says so. */
  public boolean markDead(UUID id, String error) {
    boolean block = options.retry().onDead() == DeadPolicy.BLOCK;
    Decision decision = block ? Decision.DEAD_BLOCKING : Decision.DEAD;
    return settle(List.of(id), HeldSettlement.of(decision).withError(error)).isEmpty();
  }

  /** Gives messages back unsent, as if never claimed; returns the ids no longer held. */
  public Set<UUID> release(Collection<UUID> ids) {
    return settle(ids, HeldSettlement.of(Decision.RELEASED));
  }

  /** Holds a message for this long from now on; its neighbours in the claim are not renewed. */
  public boolean renewLease(UUID id, Duration lease) {
    long leaseMs = millis(lease);
    int me = workerId();
    boolean held =
        queries.one(
            "renewLease",
            schema.sql(RENEW),
            call -> {
              call.setInt(1, me);
              call.setObject(2, id);
              call.setLong(3, leaseMs);
              call.setArray(4, claims.namedRoutes(call));
            },
            row -> row.getBoolean(1));
    if (!held) {
      conflict(id, "renew");
    }
    return held;
  }

  /** An earlier delivery of the same content to the same topic: ack with its reference instead. */
  public Optional<Earlier> checkDedup(Route target, byte[] payloadSha256) {
    Optional<Earlier> earlier = delivered.find(target, payloadSha256);
    earlier.ifPresent(hit -> events.dedupHit(target, hit.id()));
    return earlier;
  }

  /** The state of a message as it is now; empty if there is no such message. */
  public Optional<CurrentState> describe(UUID id) {
    return queries
        .rows(
            "describe",
            schema.sql(DESCRIBE),
            call -> {
              call.setArray(1, claims.namedRoutes(call));
              call.setObject(2, id);
              call.setString(3, worker);
            },
            CurrentState::read)
        .stream()
        .findFirst();
  }

  private Set<UUID> settle(Collection<UUID> ids, HeldSettlement settlement) {
    UUID[] given = ids.toArray(UUID[]::new);
    int me = workerId();
    Set<UUID> refused =
        queries.one(
            settlement.what(),
            schema.sql(SETTLE),
            call -> {
              call.setInt(1, me);
              call.setArray(2, call.getConnection().createArrayOf("uuid", given));
              settlement.bind(call, 3);
              call.setArray(9, claims.namedRoutes(call));
            },
            row -> new HashSet<>(Arrays.asList((UUID[]) row.getArray(1).getArray())));
    int settled = given.length - refused.size();
    FlushOutcome outcome = settlement.outcome();
    if (outcome != null && settled > 0) {
      events.settled(outcome, settled, given.length == 1 ? given[0] : null);
    }
    refused.forEach(id -> conflict(id, settlement.what()));
    return refused;
  }

  /** Asked for once a minute: this is how the database learns that the worker lives. */
  private int workerId() {
    int known = workerId;
    long now = nanoTime.getAsLong();
    if (known == 0 || now - askedNanos > SEEN_EVERY) {
      known =
          queries.one("worker", schema.sql(WORKER), c -> c.setString(1, worker), r -> r.getInt(1));
      workerId = known;
      askedNanos = now;
    }
    return known;
  }

  private void conflict(UUID id, String what) {
    events.conflict(id, what, describe(id));
  }

  private static long millis(Duration lease) {
    if (lease.toMillis() < 1 || lease.compareTo(Duration.ofDays(7)) > 0) {
      throw new PostriderException("lease must lie between 1 ms and 7 days, got " + lease);
    }
    return lease.toMillis();
  }
}
