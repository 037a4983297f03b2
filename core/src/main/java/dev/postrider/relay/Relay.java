package dev.postrider.relay;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.internal.claim.Claims;
import dev.postrider.internal.claim.FanOut;
import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.retention.Partitions;
import dev.postrider.internal.retention.Retention;
import dev.postrider.internal.settle.Leases;
import dev.postrider.internal.settle.Settlements;
import dev.postrider.internal.wake.Doorbell;
import dev.postrider.internal.wake.DoorbellListener;
import dev.postrider.internal.wake.Wakeup;
import dev.postrider.message.PostriderException;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.Route;
import dev.postrider.observe.LoggingListener;
import dev.postrider.observe.RelayListener;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Carries committed messages to their destinations until it is closed. Any number of relays, in any
 * number of processes, may work on one database. Start and close are idempotent; thread-safe.
 */
public final class Relay implements AutoCloseable {
  /** What a producer rings with: the number of its topic. */
  private static final Pattern ROUTE = Pattern.compile("[0-9]{1,9}");

  /** When a relay looks that does not own the topic of a ring. */
  private static final Duration OTHERS_RING = Duration.ofMillis(250);

  /** Named subscriptions are added at the start; how long that may take. */
  private static final Duration SUBSCRIBE_WAIT = Duration.ofSeconds(5);

  private final RelayConfig config;
  private final Registration registration;
  private final RingOwners ringOwners;
  private final Routing routing;
  private final List<Dispatcher> dispatchers;
  private final List<Carrier> carriers = new ArrayList<>();
  private final Maintenance maintenance;
  private final Retention retention;
  private final boolean retains;
  private final boolean declares;
  private final @Nullable DoorbellListener doorbellListener;
  private final List<Thread> threads = new ArrayList<>();
  private boolean started;
  private boolean closed;

  private Relay(Builder builder, RelayListener listener) {
    this.config = builder.config;
    this.routing = new Routing(builder.bindings, builder.schema);
    this.dispatchers = List.copyOf(builder.dispatchers.values());
    Stages stages =
        new Stages(
            new Claims(builder.schema),
            new FanOut(builder.schema),
            new Settlements(builder.schema),
            new Leases(builder.schema),
            new Doorbell(builder.schema),
            routing,
            new Partitions(builder.schema),
            new Migrations(builder.schema)::require,
            listener);
    ReconnectingSession.Origin origin =
        new ReconnectingSession.Origin(
            builder.dataSource, builder.schema, config.statementTimeout(), listener);
    ReconnectingSession.Factory sessions = onConnect -> new ReconnectingSession(origin, onConnect);
    Identity identity = Identity.of(config.name(), UUID.randomUUID().toString(), config.listen());
    for (int number = 1; number <= config.carriers(); number++) {
      carriers.add(
          new Carrier(config, stages, sessions, number, identity.instance(), this::callHelp));
    }
    this.registration =
        new Registration(identity, dispatchers, List.copyOf(builder.bindings), builder.schema);
    this.ringOwners = new RingOwners(identity.instance(), builder.schema);
    Maintenance.FleetWork fleet =
        new Maintenance.FleetWork(
            registration,
            new Declarations(List.copyOf(builder.bindings), config.name(), builder.schema),
            new UnroutedTopics(routing, builder.schema),
            ringOwners);
    this.maintenance = new Maintenance(config, stages, sessions, carriers, dispatchers, fleet);
    this.declares =
        builder.bindings.stream().anyMatch(binding -> !binding.subscription().isEmpty());
    this.retains = !builder.retention.periods().isEmpty();
    this.retention =
        new Retention(
            builder.dataSource, builder.schema, builder.retention, config.name(), listener);
    DataSource direct = builder.direct == null ? builder.dataSource : builder.direct;
    this.doorbellListener =
        config.listen() ? new DoorbellListener(direct, builder.schema, this::heard) : null;
  }

  /** A relay on this database. */
  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  /**
   * Starts to carry messages. Adds its named subscriptions first, if the database answers within
   * seconds: so they get what is enqueued after this call. Otherwise it adds them later.
   */
  public synchronized Relay start() {
    if (started || closed) {
      return this;
    }
    started = true;
    registration.log();
    dispatchers.forEach(Dispatcher::start);
    for (Carrier carrier : carriers) {
      run(carrier, "carry-" + (threads.size() + 1));
    }
    run(maintenance, "maintain");
    if (retains) {
      run(retention, "retain");
    }
    if (doorbellListener != null) {
      doorbellListener.start();
    }
    if (declares) {
      maintenance.awaitSubscriptions(SUBSCRIBE_WAIT);
    }
    return this;
  }

  private void run(Runnable task, String name) {
    Thread thread = new Thread(task, "postrider-" + name);
    threads.add(thread);
    thread.start();
  }

  /** Tells a relay in the producer's own process that something was committed just now. */
  public void wake() {
    carriers.get(0).wakeup().signal(Wakeup.Reason.LOCAL);
  }

  /**
   * Handles a notification. A producer sends the number of its topic, an operator the name of an
   * action; an empty one asks to look everywhere. Any login of the database can notify with any
   * text.
   */
  private void heard(String payload) {
    if (payload.isEmpty()) {
      routing.rungForAll();
      carriers.get(0).wakeup().signal(Wakeup.Reason.NOTIFY);
    } else if (!ROUTE.matcher(payload).matches()) {
      if (payload.equals("subscriptions")) {
        routing.topicsChanged();
      }
      carriers.get(0).wakeup().signal(Wakeup.Reason.CONTROL);
    } else {
      rung(Integer.parseInt(payload));
    }
  }

  private void rung(int routeId) {
    if (!routing.rung(routeId)) {
      return;
    }
    Route route = routing.known(routeId);
    Wakeup lead = carriers.get(0).wakeup();
    if (route == null || ringOwners.owns(route, routing.fansOut(routeId))) {
      lead.signal(Wakeup.Reason.NOTIFY);
    } else {
      lead.signalAfter(Wakeup.Reason.NOTIFY, OTHERS_RING);
    }
  }

  private void callHelp() {
    for (Carrier carrier : carriers.subList(1, carriers.size())) {
      carrier.wakeup().signal(Wakeup.Reason.HELP);
    }
  }

  /** How the relay is, without asking the database. */
  public RelayStatus status() {
    Map<String, RelayStatus.DestinationStatus> destinations = new LinkedHashMap<>();
    for (Dispatcher dispatcher : dispatchers) {
      destinations.put(
          dispatcher.name(),
          new RelayStatus.DestinationStatus(
              dispatcher.breakerState(), dispatcher.openTargets(), dispatcher.inFlight()));
    }
    Duration slowest = Duration.ZERO;
    for (Carrier carrier : carriers.subList(0, 1)) {
      slowest = carrier.sinceLoop();
    }
    @Nullable String failure = failure();
    boolean running = failure == null && carrying();
    return new RelayStatus(
        config.name(),
        running,
        doorbellListener != null && doorbellListener.listening(),
        slowest,
        destinations,
        failure);
  }

  /** Whether messages are carried. Threads that only look after the database do not count. */
  private boolean carrying() {
    return threads.stream().limit(carriers.size()).anyMatch(Thread::isAlive);
  }

  /** Other carriers than the lead sleep until they are needed, and would not notice a mend. */
  private @Nullable String failure() {
    @Nullable String failure = carriers.get(0).failure();
    return failure == null ? maintenance.failure() : failure;
  }

  /**
   * Stops claiming, waits for what is in flight up to the configured time, gives the rest back, so
   * that another relay can go on at once, and closes the destinations.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (started) {
      if (doorbellListener != null) {
        doorbellListener.end();
      }
      retention.stop();
      carriers.forEach(Carrier::stop);
      dispatchers.forEach(Dispatcher::drain);
      joinCarriers(config.shutdownTimeout());
      dispatchers.forEach(Dispatcher::abandon);
      joinCarriers(Duration.ofSeconds(5));
      maintenance.stop();
      threads.forEach(Thread::interrupt);
      join(threads, Duration.ofSeconds(5));
      if (doorbellListener != null) {
        doorbellListener.stop();
      }
    }
    dispatchers.forEach(Dispatcher::close);
  }

  private void joinCarriers(Duration timeout) {
    join(threads.subList(0, carriers.size()), timeout);
  }

  private static void join(List<Thread> joined, Duration timeout) {
    long end = System.nanoTime() + timeout.toNanos();
    try {
      for (Thread thread : joined) {
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left > 0) {
          thread.join(left);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Collects what a relay needs; not thread-safe. */
  public static final class Builder {
    private final DataSource dataSource;
    private final Map<String, Dispatcher> dispatchers = new LinkedHashMap<>();
    private final List<RouteBinding> bindings = new ArrayList<>();
    private final Map<String, Destination> destinations = new LinkedHashMap<>();
    private final Map<String, DestinationOptions> options = new LinkedHashMap<>();
    private final List<Planned> planned = new ArrayList<>();
    private @Nullable DataSource direct;
    private Schema schema = Schema.DEFAULT;
    private RelayConfig config = RelayConfig.defaults();
    private RetentionConfig retention = RetentionConfig.defaults();
    private RelayListener listener = RelayListener.NONE;

    private record Planned(
        String namespace,
        String topic,
        String subscription,
        String destination,
        RouteOptions options) {
      String name() {
        return namespace + "/" + topic + (subscription.isEmpty() ? "" : "#" + subscription);
      }
    }

    private Builder(DataSource dataSource) {
      this.dataSource = dataSource;
    }

    /** Connections for LISTEN, where the others go through a pooler that does not carry it. */
    public Builder direct(DataSource value) {
      this.direct = value;
      return this;
    }

    public Builder schema(Schema value) {
      this.schema = value;
      return this;
    }

    public Builder config(RelayConfig value) {
      this.config = value;
      return this;
    }

    /**
     * How long things are kept; {@link RetentionConfig#defaults} unless given. All relays of a
     * database should have the same.
     */
    public Builder retention(RetentionConfig value) {
      this.retention = value;
      return this;
    }

    /** Hears what the relay does, beside the log. */
    public Builder listener(RelayListener value) {
      this.listener = value;
      return this;
    }

    /** A destination by its name, which operators see and pause it by. */
    public Builder destination(String name, Destination destination, DestinationOptions limits) {
      if (destinations.putIfAbsent(name, destination) != null) {
        throw new PostriderException("destination '" + name + "' is given twice");
      }
      options.put(name, limits);
      return this;
    }

    public Builder destination(String name, Destination destination) {
      return destination(name, destination, DestinationOptions.DEFAULT);
    }

    /**
     * Sends a topic to a destination. {@code *} as topic means every topic of the namespace that
     * has no route of its own, {@code *} as namespace every namespace that has none.
     */
    public Builder route(String namespace, String topic, String destination, RouteOptions how) {
      planned.add(new Planned(namespace, topic, "", destination, how));
      return this;
    }

    /**
     * Sends every message of a topic to a destination, beside its other subscriptions. Each
     * subscription has its own progress: order, retries, dead letters, pause. The relay adds the
     * subscription to the topic in the database when it starts, and never removes it.
     *
     * @param name the subscription's name within the topic
     */
    public Builder subscription(
        String namespace, String topic, String name, String destination, RouteOptions how) {
      planned.add(new Planned(namespace, topic, name, destination, how));
      return this;
    }

    public Builder subscription(String namespace, String topic, String name, String destination) {
      return subscription(namespace, topic, name, destination, RouteOptions.DEFAULT);
    }

    public Builder route(String namespace, String topic, String destination) {
      return route(namespace, topic, destination, RouteOptions.DEFAULT);
    }

    public Relay build() {
      List<String> wrong = new ArrayList<>();
      Set<String> named = new HashSet<>();
      if (planned.isEmpty()) {
        wrong.add("there is no route; give at least one with route(namespace, topic, destination)");
      }
      for (Planned plan : planned) {
        if (!destinations.containsKey(plan.destination())) {
          wrong.add(
              "route %s names destination '%s', which is not among %s"
                  .formatted(plan.name(), plan.destination(), destinations.keySet()));
        }
        if (!plan.subscription().isEmpty()
            && (plan.namespace().equals(RouteBinding.ANY)
                || plan.topic().equals(RouteBinding.ANY))) {
          wrong.add(
              "subscription %s has no exact topic; name the namespace and the topic, without *"
                  .formatted(plan.name()));
        }
        if (!plan.subscription().isEmpty() && !named.add(plan.name())) {
          wrong.add("subscription %s is given twice".formatted(plan.name()));
        }
      }
      destinations.forEach((name, destination) -> timeout(name, destination, wrong));
      if (!wrong.isEmpty()) {
        throw new PostriderException("relay: " + String.join("; ", wrong));
      }
      RelayListener heard = RelayListener.all(new LoggingListener(), listener);
      destinations.forEach(
          (name, destination) ->
              dispatchers.put(
                  name,
                  new Dispatcher(
                      name,
                      destination,
                      options.getOrDefault(name, DestinationOptions.DEFAULT),
                      heard)));
      for (Planned plan : planned) {
        Dispatcher dispatcher = dispatchers.get(plan.destination());
        if (dispatcher != null) {
          RetryPolicy policy = plan.options().retry();
          bindings.add(
              new RouteBinding(
                  plan.namespace(),
                  plan.topic(),
                  plan.subscription(),
                  dispatcher,
                  policy,
                  plan.options().check()));
        }
      }
      return new Relay(this, heard);
    }

    private void timeout(String name, Destination destination, List<String> wrong) {
      Duration timeout = options.getOrDefault(name, DestinationOptions.DEFAULT).timeout();
      if (timeout.compareTo(destination.answersWithin()) <= 0) {
        wrong.add(
            "destination '%s' may take %d ms to answer by its own settings: expected a longer timeout, got %d ms"
                .formatted(name, destination.answersWithin().toMillis(), timeout.toMillis()));
      }
    }
  }
}
