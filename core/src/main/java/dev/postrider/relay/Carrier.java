package dev.postrider.relay;

import dev.postrider.internal.dispatch.LeaseClock;
import dev.postrider.internal.protocol.Answered;
import dev.postrider.internal.protocol.ClaimSettlement;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.internal.settle.SettlementRules;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.internal.wake.Wakeup;
import dev.postrider.relay.RestPolicy.Rest;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
  private static final Duration LINGER_STEP = Duration.ofNanos(500_000);

  private final RelayConfig config;
  private final Stages stages;
  private final Routing routing;
  private final ReconnectingSession session;
  private final String name;
  private final String instance;
  private final boolean lead;
  private final Runnable callHelp;
  private final Wakeup wakeup = new Wakeup();
  private final InFlight inFlight;
  private final Dispatchers dispatchers;
  private final Exchange exchange;
  private final RestPolicy policy;
  private List<ClaimSettlement> unsettled = List.of();
  private Set<Routing.Feed> leftOut = Set.of();
  private boolean failed;
  private volatile boolean stopping;
  private volatile long loopedAtNanos = System.nanoTime();
  private volatile int worker;

  /**
   * @param instance tells this process's carriers from those of another with the same name
   */
  Carrier(
      RelayConfig config,
      Stages stages,
      ReconnectingSession.Factory sessions,
      int number,
      String instance,
      Runnable callHelp) {
    this.config = config;
    this.stages = stages;
    this.routing = stages.routing();
    this.name = config.name() + "/" + number;
    this.instance = instance;
    this.lead = number == 1;
    this.callHelp = callHelp;
    this.inFlight = new InFlight(config.batchSize(), config.lease(), System::nanoTime);
    this.dispatchers = new Dispatchers(routing.directory(), inFlight, stages.listener());
    this.exchange =
        new Exchange(
            stages.claims(), stages.settlements(), routing, stages.listener(), config.lease());
    this.policy = new RestPolicy(lead, config.listen(), config.pollInterval(), System::nanoTime);
    this.session = sessions.open(this::connected);
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
    return inFlight.leases();
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
      while (!stopping || !inFlight.isEmpty()) {
        loopedAtNanos = System.nanoTime();
        takeAnswers();
        if (!stopping) {
          findWork();
        }
        Routing.Loads loads = loads();
        try {
          if (unsettled.isEmpty() && loads.due().isEmpty()) {
            leftOut = loads.leftOut();
            rest();
          } else {
            exchange(loads);
          }
        } finally {
          loads.due().forEach(Load::done);
        }
      }
      session.tryRun("stop", connection -> stages.leases().stopped(connection, worker), wakeup);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      log.error("{}", LogLine.of("outbox_carrier_died").put("carrier", name), Silenced.of(e));
      if (e instanceof Error error) {
        throw error; // for the process: it may be out of memory
      }
    } finally {
      inFlight.abandon();
      session.close();
    }
  }

  private void connected(Connection connection) throws SQLException {
    stages.schemaCheck().run(connection);
    worker = stages.leases().worker(connection, name, instance);
    routing.refresh(connection);
    routing.discover(connection);
    // A claim whose answer was lost with the connection would otherwise wait for its lease to end.
    stages.leases().forgetOthers(connection, worker, inFlight.tokens());
  }

  /** After a failed transaction the same answers are settled again. */
  private void takeAnswers() {
    if (unsettled.isEmpty() && linger().isZero()) {
      unsettled =
          inFlight.takeAnswers(
              answer -> SettlementRules.of(answer, dispatchers.binding(answer.claimed()).policy()));
    }
  }

  private Duration linger() {
    return stopping ? Duration.ZERO : inFlight.linger();
  }

  private void findWork() throws InterruptedException {
    if (policy.discover()) {
      session.tryRun("discover", this::discover, wakeup);
    }
    if (lead && routing.fanOutDue()) { // one relay at a time fans a topic out
      session.tryRun("fan out", this::fanOut, wakeup);
    }
  }

  private void discover(Connection connection) throws SQLException {
    policy.discovered(routing.discover(connection), routing.discoveryTook());
  }

  private void fanOut(Connection connection) throws SQLException {
    boolean some = routing.fanOut(connection, stages.fanOut());
    policy.fannedOut();
    if (some && routing.fanOutDue()) {
      callHelp.run(); // others claim what there is while this one makes more
    }
  }

  /**
   * With every settlement goes a look for more: it costs little in the same transaction. But after
   * a failure settles first: a claim that fails must not keep answers from the database. Between
   * looks it asks for those that had no room in the last one.
   */
  private Routing.Loads loads() {
    boolean settles = !unsettled.isEmpty();
    boolean all = policy.hungry() || settles;
    if (stopping || (failed && settles) || (!all && leftOut.isEmpty())) {
      return Routing.Loads.NONE;
    }
    return routing.loads(
        config.batchSize(),
        config.carriers(),
        dispatchers.amounts(unsettled),
        feed -> all || leftOut.contains(feed));
  }

  /** One transaction: settle what was answered, claim what may go. */
  private void exchange(Routing.Loads loads) throws InterruptedException {
    List<ClaimSettlement> settling = unsettled;
    long askedAt = System.nanoTime();
    Exchange.Result result =
        session.tryCall("carry", c -> exchange.run(c, worker, settling, loads.due()), wakeup);
    failed = result == null;
    if (result == null) {
      return;
    }
    unsettled = List.of();
    dispatchers.settled(settling, result.refused());
    leftOut = new HashSet<>(loads.leftOut());
    leftOut.addAll(result.leftOut());
    policy.exchanged(result, !settling.isEmpty(), !loads.due().isEmpty(), routing.discoveryDue());
    dispatchers.submit(result.claimed(), askedAt, this::answered);
    if (result.full()) {
      callHelp.run();
    }
    if (policy.shouldDisarm(!result.claimed().isEmpty())) {
      disarm(result.claimed());
    }
  }

  private void answered(Answered answer) {
    inFlight.answered(answer);
    wakeup.signal(Wakeup.Reason.ANSWER);
  }

  private void disarm(List<Claimed> claimed) throws InterruptedException {
    Set<Integer> busy = claimed.stream().map(Claimed::routeId).collect(Collectors.toSet());
    Set<Integer> quiet = routing.directory().withTopics(busy);
    if (session.tryRun("wake", c -> stages.doorbell().disarm(c, quiet), wakeup)) {
      policy.disarmed();
    }
  }

  /** Nothing to settle and nothing to claim: sleep until there is. */
  private void rest() throws InterruptedException {
    Duration linger = linger();
    if (!linger.isZero()) {
      wakeup.pause(linger.compareTo(LINGER_STEP) < 0 ? linger : LINGER_STEP);
      return;
    }
    Rest rest =
        policy.rest(
            routing.servesSomething(),
            !inFlight.isEmpty(),
            routing.fanOutDue(),
            !leftOut.isEmpty(),
            stopping);
    if (rest instanceof Rest.Arm) {
      policy.armed(session.tryRun("sleep", c -> stages.doorbell().arm(c), wakeup));
    } else if (rest instanceof Rest.Pause pause) {
      wakeup.pause(pause.time());
    } else if (rest instanceof Rest.Await wait) {
      woken(wait, wakeup.await(wait.time()));
    }
  }

  private void woken(Rest.Await wait, Set<Wakeup.Reason> reasons) throws InterruptedException {
    if (reasons.contains(Wakeup.Reason.NOTIFY)) {
      wakeup.pause(policy.debounce());
      policy.rung(routing.unknownRung());
    }
    if (reasons.contains(Wakeup.Reason.CONTROL)) {
      session.tryRun("refresh", routing::refresh, wakeup);
      policy.controlled();
    }
    policy.woken(wait, reasons).forEach(stages.listener()::woken);
  }
}
