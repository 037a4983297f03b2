package dev.postrider.relay;

import dev.postrider.claim.ClaimPath;
import dev.postrider.claim.ClaimRequest;
import dev.postrider.claim.ClaimResult;
import dev.postrider.claim.Claims;
import dev.postrider.claim.FanOut;
import dev.postrider.dispatch.Amount;
import dev.postrider.dispatch.Dispatcher;
import dev.postrider.dispatch.LeaseClock;
import dev.postrider.message.Answered;
import dev.postrider.message.Claimed;
import dev.postrider.message.Outcome;
import dev.postrider.message.Protocol;
import dev.postrider.message.Settlement;
import dev.postrider.observe.RelayListener;
import dev.postrider.relay.Routing.Load;
import dev.postrider.settle.Leases;
import dev.postrider.settle.Settlements;
import dev.postrider.settle.Verdicts;
import dev.postrider.store.HeldConnection;
import dev.postrider.store.Partitions;
import dev.postrider.wake.Doorbell;
import dev.postrider.wake.Wakeup;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The loop that carries messages, on one thread and one connection: settle what was answered and
 * claim the next in the same transaction, hand it to the dispatchers, sleep when there is nothing.
 * Of a relay's carriers the lead one listens to the doorbell and polls; it calls the others when it
 * finds more than it can take.
 */
final class Carrier implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Carrier.class);
  private static final long BUSY_NANOS = 50_000_000;
  private static final long LINGER_NANOS = 5_000_000;
  private static final long LINGER_STEP_NANOS = 500_000;
  private static final long DEBOUNCE_NANOS = 1_000_000;
  private static final long ANSWER_SOON_NANOS = 10_000_000;
  private static final int MAX_EMPTY_LOOKS = 64;
  private static final Duration ROOM_AGAIN = Duration.ofMillis(50);

  /** Another relay fans a topic out: it takes a few milliseconds. */
  private static final Duration FAN_OUT_AGAIN = Duration.ofMillis(5);

  private static final Duration UNWOKEN = Duration.ofHours(1);

  /** The stages as this loop sees them. */
  record Stages(
      Claims claims,
      FanOut fanOut,
      Settlements settlements,
      Leases leases,
      Doorbell doorbell,
      Routing routing,
      Partitions partitions,
      HeldConnection.Work schemaCheck,
      RelayListener listener) {}

  private final RelayConfig config;
  private final Stages stages;
  private final Session session;
  private final String name;
  private final String instance;
  private final boolean lead;
  private final Runnable callHelp;
  private final Wakeup wakeup = new Wakeup();

  private final LinkedBlockingQueue<Answered> answered = new LinkedBlockingQueue<>();
  private final Map<Long, Held> held = new ConcurrentHashMap<>();
  private final Map<Routing.Feed, ClaimPath> paths = new HashMap<>();
  private List<Settlement> unsettled = List.of();
  private volatile boolean stopping;
  private volatile long loopedAtNanos = System.nanoTime();
  private volatile int worker;
  private boolean hungry = true;
  private boolean armed;
  private boolean failed;
  private boolean lookAgain;
  private int emptyLooks;
  private boolean discover;
  private boolean localLook;
  private int vainClaims;
  private int callsToIgnore;
  private long busySinceNanos;
  private long gatheringSinceNanos;
  private long exchangedAtNanos;
  private long rungAtNanos = System.nanoTime() - DEBOUNCE_NANOS;

  /** A claim with messages that are not settled yet. */
  private static final class Held {
    final LeaseClock clock;
    int open;

    Held(LeaseClock clock, int open) {
      this.clock = clock;
      this.open = open;
    }
  }

  /**
   * @param instance tells this process's carriers from those of another with the same name
   */
  Carrier(
      RelayConfig config,
      Stages stages,
      SessionFactory sessions,
      int number,
      String instance,
      Runnable callHelp) {
    this.config = config;
    this.stages = stages;
    this.name = config.name() + "/" + number;
    this.instance = instance;
    this.lead = number == 1;
    this.callHelp = callHelp;
    this.session = sessions.open(this::connected);
  }

  /** Makes sessions with the relay's settings. */
  interface SessionFactory {
    Session open(HeldConnection.Work onConnect);
  }

  Wakeup wakeup() {
    return wakeup;
  }

  /** How long ago the loop last came round; grows when it is stuck. */
  Duration sinceLoop() {
    return Duration.ofNanos(System.nanoTime() - loopedAtNanos);
  }

  /** What it fails at and will go on failing at unless somebody acts; null if nothing. */
  @Nullable String failure() {
    return session.failure();
  }

  /** The number by which the database knows it; 0, which is nobody's, before it is connected. */
  int worker() {
    return worker;
  }

  /** The clocks of all claims that are not settled yet. */
  List<LeaseClock> leases() {
    return held.values().stream().map(h -> h.clock).toList();
  }

  /** Stop claiming; the loop ends when everything in flight is settled. */
  void stop() {
    stopping = true;
    wakeup.signal(Wakeup.Reason.STOP);
  }

  @Override
  public void run() {
    try {
      session.tryRun("connect", connection -> {}, wakeup); // connecting reads the routes
      while (!stopping || !held.isEmpty()) {
        loopedAtNanos = System.nanoTime();
        takeAnswers();
        if (discover && !stopping) {
          discover = !session.tryRun("discover", this::discover, wakeup);
        }
        if (lead && stages.routing().fanOutDue() && !stopping) {
          session.tryRun("fan out", this::fanOut, wakeup);
        }
        List<Load> loads = loads();
        try {
          if (unsettled.isEmpty() && loads.isEmpty()) {
            rest();
          } else {
            exchange(loads);
          }
        } finally {
          loads.forEach(Load::done);
        }
      }
      session.tryRun("stop", connection -> stages.leases().stopped(connection, worker), wakeup);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      log.error("event=outbox_carrier_died carrier={}", name, e);
      throw e;
    } finally {
      held.clear(); // nobody renews what nobody will settle: another relay takes it over
      session.close();
    }
  }

  /**
   * With every settlement goes a look for more: it costs little in the same transaction. But after
   * a failure settles first: a claim that fails must not keep answers from the database.
   */
  private List<Load> loads() {
    boolean settles = !unsettled.isEmpty();
    return (hungry || settles) && !stopping && !(failed && settles)
        ? stages.routing().loads(config.batchSize(), config.carriers(), amounts(unsettled))
        : List.of();
  }

  private Map<Dispatcher, Amount> amounts(List<Settlement> settlements) {
    Map<Dispatcher, Amount> amounts = new HashMap<>();
    for (Settlement settlement : settlements) {
      Claimed claimed = settlement.claimed();
      amounts.compute(
          stages.routing().line(claimed.routeId()).dispatcher(),
          (d, sum) -> (sum == null ? Amount.NONE : sum).plus(claimed));
    }
    return amounts;
  }

  /** A carrier that finds a new topic claims from it: the ring may have come to nobody else. */
  private void discover(Connection connection) throws SQLException {
    hungry |= stages.routing().discover(connection);
  }

  /** Only the lead does it: one relay at a time fans a topic out. */
  private void fanOut(Connection connection) throws SQLException {
    stages.routing().fanOut(connection, stages.fanOut());
    hungry = true;
  }

  private void connected(Connection connection) throws SQLException {
    stages.schemaCheck().run(connection);
    worker = stages.leases().worker(connection, name, instance);
    stages.routing().refresh(connection);
    stages.routing().discover(connection);
    // A claim whose answer was lost with the connection would otherwise wait for its lease to end.
    stages.leases().forgetOthers(connection, worker, held.keySet());
  }

  private void takeAnswers() {
    if (!unsettled.isEmpty() || lingerNanos() > 0) {
      return; // the last transaction failed: the same again; or more answers are about to come
    }
    gatheringSinceNanos = 0;
    List<Settlement> settlements = new ArrayList<>();
    for (Answered answer = answered.peek();
        answer != null && settlements.size() < 4 * config.batchSize();
        answer = answered.peek()) {
      if (answer.late() && holds(settlements, answer)) { // also of another subscription
        break; // one call settles a message once, and the timeout came first
      }
      answered.remove();
      Held claim = held.get(answer.claimed().message().token());
      if (answer.late() && claim != null) {
        claim.open++;
      }
      Line line = stages.routing().line(answer.claimed().routeId());
      settlements.add(Verdicts.of(answer, line.policy()));
    }
    unsettled = settlements;
  }

  /**
   * How long to wait for more answers before settling those that came. The messages of a key are
   * answered one after the other: settled as they come, each would be a transaction of its own.
   */
  private long lingerNanos() {
    int waiting = answered.size();
    int open = 0;
    for (Held claim : held.values()) {
      open += claim.open;
    }
    if (waiting == 0 || waiting >= Math.min(open, config.batchSize()) || stopping) {
      return 0;
    }
    long now = System.nanoTime();
    if (gatheringSinceNanos == 0) {
      gatheringSinceNanos = now;
    }
    return gatheringSinceNanos + LINGER_NANOS - now;
  }

  private static boolean holds(List<Settlement> settlements, Answered answer) {
    UUID id = answer.claimed().message().id();
    return settlements.stream().anyMatch(s -> s.claimed().message().id().equals(id));
  }

  /** One transaction: settle what was answered, claim what may go. */
  private void exchange(List<Load> loads) throws InterruptedException {
    List<Claimed> claimed = new ArrayList<>();
    boolean[] full = {false};
    List<Settlement> settling = unsettled;
    @Nullable Set<Settlement>[] refused = newHolder();
    long askedAt = System.nanoTime();
    boolean done =
        session.tryRun(
            "carry",
            connection -> {
              claimed.clear();
              full[0] = false;
              lookAgain = false;
              boolean together = settling.isEmpty() ? loads.size() > 1 : !loads.isEmpty();
              connection.setAutoCommit(!together);
              if (!settling.isEmpty()) {
                refused[0] = stages.settlements().record(connection, worker, settling);
              }
              for (Load load : loads) {
                full[0] |= claim(connection, load, claimed);
              }
              if (together) {
                connection.commit();
                connection.setAutoCommit(true);
              }
            },
            wakeup);
    failed = !done;
    if (!done) {
      return;
    }
    exchangedAtNanos = System.nanoTime();
    unsettled = List.of();
    settled(settling, refused[0] == null ? Set.of() : refused[0]);
    hungry = full[0] || looksAgain(claimed) || mayBeMore(claimed) || (hungry && loads.isEmpty());
    if (!loads.isEmpty()) {
      foundWork(!claimed.isEmpty());
    }
    lookForTopics(claimed);
    dispatch(claimed, askedAt);
    if (full[0]) {
      callHelp.run();
    }
    disarmWhenBusy(claimed);
  }

  /**
   * A claim that saw only a part may go on at once, but not for ever if there is nothing to take.
   */
  private boolean looksAgain(List<Claimed> claimed) {
    emptyLooks = claimed.isEmpty() ? emptyLooks + 1 : 0;
    return lookAgain && emptyLooks < MAX_EMPTY_LOOKS;
  }

  /** Nobody rings while the bell is down, and a producer in this process does not say for what. */
  private void lookForTopics(List<Claimed> claimed) {
    if (localLook && claimed.isEmpty()) {
      discover = true;
      hungry = true;
    }
    localLook = false;
    discover |= !armed && stages.routing().discoveryDue();
  }

  /**
   * After a claim that was not full: a few messages without a key were all there were, and what
   * comes later rings while the bell is up. One that was too large to go with them is found with
   * their settlement.
   */
  private boolean mayBeMore(List<Claimed> claimed) {
    return !claimed.isEmpty() && (!armed || claimed.stream().anyMatch(Claimed::ordered));
  }

  /**
   * A carrier that is called while another one carries all there is, a single hot key say, would
   * claim in vain each time. After several such calls it lets most of them pass.
   */
  private void foundWork(boolean found) {
    vainClaims = found ? 0 : Math.min(vainClaims + 1, 4);
    callsToIgnore = lead ? 0 : (1 << vainClaims) - 1;
  }

  private boolean ignores(Wakeup.Reason reason) {
    return switch (reason) {
      case ANSWER -> true;
      case HELP -> callsToIgnore-- > 0;
      default -> false;
    };
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static @Nullable Set<Settlement>[] newHolder() {
    return new Set[1];
  }

  /** Returns whether there is probably more where this came from. */
  private boolean claim(Connection connection, Load load, List<Claimed> into) throws SQLException {
    long start = System.nanoTime();
    int room = load.room().messages();
    boolean alone = load.room().alone();
    ClaimPath path = paths.computeIfAbsent(load.feed(), d -> new ClaimPath());
    ClaimRequest.Start from = path.start(start);
    ClaimResult found =
        stages
            .claims()
            .take(
                connection,
                new ClaimRequest(
                    worker,
                    room,
                    load.room().bytes(),
                    config.lease(),
                    load.routes(),
                    from,
                    alone ? ClaimRequest.Kind.SUSPECT : ClaimRequest.Kind.DUE),
                stages.routing()::name);
    long end = System.nanoTime();
    int count = found.messages().size();
    boolean full = count >= room - room / Protocol.FULL_SHARE;
    if (alone) {
      lookAgain = true;
    } else {
      path.took(found, from, full, start, end);
      // A claim that did not look everywhere found too little.
      lookAgain |= !full && (found.more() || load.partial() || !from.search() || !from.front());
    }
    lookAgain |= found.suspects() && !alone && load.dispatcher().isolateSuspect();
    stages.listener().claimed(count, Duration.ofNanos(end - start));
    into.addAll(found.messages());
    return full;
  }

  private void settled(List<Settlement> settlements, Set<Settlement> refused) {
    for (Settlement settlement : settlements) {
      Claimed claimed = settlement.claimed();
      Dispatcher dispatcher = stages.routing().line(claimed.routeId()).dispatcher();
      Held claim = held.get(claimed.message().token());
      if (claim != null && --claim.open == 0) {
        held.remove(claimed.message().token());
      }
      // Its followers, or what a retry left room for, may be claimable now.
      hungry |= claimed.ordered();
      if (refused.contains(settlement)) {
        stages.listener().conflict(dispatcher.name(), settlement);
      } else {
        stages.listener().settled(dispatcher.name(), settlement);
      }
    }
    amounts(settlements).forEach(Dispatcher::settled);
    hungry |= !settlements.isEmpty();
  }

  private void dispatch(List<Claimed> claimed, long askedAt) {
    Map<Long, LeaseClock> clocks = new HashMap<>();
    Map<Dispatcher, Map<LeaseClock, List<Claimed>>> parts = new LinkedHashMap<>();
    for (Claimed message : claimed) {
      Line line = stages.routing().line(message.routeId());
      long token = message.message().token();
      LeaseClock clock =
          clocks.computeIfAbsent(token, t -> new LeaseClock(t, askedAt, config.lease()));
      held.computeIfAbsent(token, t -> new Held(clock, 0)).open++;
      parts
          .computeIfAbsent(line.dispatcher(), d -> new LinkedHashMap<>())
          .computeIfAbsent(clock, c -> new ArrayList<>())
          .add(message);
    }
    parts.forEach(
        (dispatcher, byClock) ->
            byClock.forEach(
                (clock, batch) -> dispatcher.submit(batch, clock, this::answered, this::refuse)));
  }

  private @Nullable Outcome refuse(Claimed claimed) {
    return stages.routing().line(claimed.routeId()).refuse(claimed);
  }

  private void answered(Answered answer) {
    answered.add(answer);
    wakeup.signal(Wakeup.Reason.ANSWER);
  }

  /** Nothing to settle and nothing to claim: sleep until there is. */
  private void rest() throws InterruptedException {
    long linger = lingerNanos();
    if (linger > 0) {
      wakeup.pause(Duration.ofNanos(Math.min(linger, LINGER_STEP_NANOS)));
      return;
    }
    hungry &= stages.routing().servesSomething();
    if (!hungry) {
      busySinceNanos = 0; // not while it waits for room with work at hand
    }
    long answerSoon = answerSoonNanos();
    if (lead && config.listen() && !hungry && !armed && !stopping && answerSoon <= 0) {
      armed = session.tryRun("sleep", c -> stages.doorbell().arm(c), wakeup);
      discover = true;
      // Look once more: what committed before the flag went up did not ring. Also if another relay
      // raised it: that one looks for its own routes only.
      hungry = armed;
      return;
    }
    if (stages.routing().fanOutDue() && lead && !stopping) {
      wakeup.pause(FAN_OUT_AGAIN);
      return;
    }
    Duration longest = lead ? config.pollInterval() : UNWOKEN;
    boolean full = hungry && longest.compareTo(ROOM_AGAIN) > 0;
    boolean soon = answerSoon > 0 && !armed;
    Set<Wakeup.Reason> reasons =
        wakeup.await(soon ? Duration.ofNanos(answerSoon) : full ? ROOM_AGAIN : longest);
    if (reasons.isEmpty() && (soon || full)) {
      return; // another carrier's claim may have set the room aside that this one wanted
    }
    emptyLooks = 0;
    if (reasons.isEmpty()) {
      stages.listener().woken("poll");
      discover = true;
      // Another relay may have lowered the flag meanwhile: raise it first, then look.
      hungry = hungry || !armed || !lead;
      armed = false;
      return;
    }
    if (reasons.contains(Wakeup.Reason.NOTIFY)) {
      debounce();
      discover |= stages.routing().unknownRung();
    }
    if (reasons.contains(Wakeup.Reason.CONTROL)) {
      session.tryRun("refresh", stages.routing()::refresh, wakeup);
      discover = true;
    }
    localLook = reasons.contains(Wakeup.Reason.LOCAL);
    for (Wakeup.Reason reason : reasons) {
      if (!ignores(reason)) {
        stages.listener().woken(reason.label());
        hungry = true;
      }
    }
  }

  /**
   * How long an answer may still be expected at any moment, after which there is something to claim
   * again: going to sleep meanwhile, doorbell and all, would be two transactions for nothing.
   */
  private long answerSoonNanos() {
    return held.isEmpty() ? 0 : exchangedAtNanos + ANSWER_SOON_NANOS - System.nanoTime();
  }

  /** The first ring of a burst wakes at once; what follows closely is taken together. */
  private void debounce() throws InterruptedException {
    long early = DEBOUNCE_NANOS - (System.nanoTime() - rungAtNanos);
    if (early > 0) {
      wakeup.pause(Duration.ofNanos(early));
    }
    rungAtNanos = System.nanoTime();
  }

  /** While work keeps coming nobody needs to ring. */
  private void disarmWhenBusy(List<Claimed> claimed) throws InterruptedException {
    if (!lead || !armed) {
      return;
    }
    long now = System.nanoTime();
    if (claimed.isEmpty() || busySinceNanos == 0) {
      busySinceNanos = claimed.isEmpty() ? 0 : now;
    } else if (now - busySinceNanos > BUSY_NANOS) {
      Set<Integer> busy = claimed.stream().map(Claimed::routeId).collect(Collectors.toSet());
      Set<Integer> quiet = stages.routing().withTopics(busy);
      armed = !session.tryRun("wake", c -> stages.doorbell().disarm(c, quiet), wakeup);
    }
  }
}
