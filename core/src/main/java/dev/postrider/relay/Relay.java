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
import dev.postrider.observe.LoggingListener;
import dev.postrider.observe.RelayListener;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Carries committed messages to their destinations until it is closed. Any number of relays, in any
 * number of processes, may work on one database. Start and close are idempotent; thread-safe.
 */
public final class Relay implements AutoCloseable {
  /** Named subscriptions are added at the start; how long that may take. */
  private static final Duration SUBSCRIBE_WAIT = Duration.ofSeconds(5);

  /** How long threads may take to end that were told to. */
  private static final Duration END_WAIT = Duration.ofSeconds(5);

  private final RelayConfig config;
  private final Registration registration;
  private final List<Dispatcher> dispatchers;
  private final List<Carrier> carriers = new ArrayList<>();
  private final Maintenance maintenance;
  private final Retention retention;
  private final boolean retains;
  private final boolean declares;
  private final @Nullable DoorbellListener doorbellListener;
  private final RelayThreads threads = new RelayThreads();
  private boolean started;
  private boolean closed;

  private Relay(Builder builder) {
    RelayListener listener = RelayListener.all(new LoggingListener(), builder.listener);
    Map<String, Dispatcher> byName = builder.plan.dispatchers(listener);
    List<RouteBinding> bindings = builder.plan.bindings(byName);
    Routing routing = new Routing(bindings, builder.schema);
    this.config = builder.config;
    this.dispatchers = List.copyOf(byName.values());
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
    this.registration = new Registration(identity, dispatchers, bindings, builder.schema);
    RingOwners ringOwners = new RingOwners(identity.instance(), builder.schema);
    Maintenance.FleetWork fleet =
        new Maintenance.FleetWork(
            registration,
            new Declarations(bindings, config.name(), builder.schema),
            new UnroutedTopics(routing.directory(), builder.schema),
            ringOwners);
    this.maintenance = new Maintenance(config, stages, sessions, carriers, dispatchers, fleet);
    this.declares = bindings.stream().anyMatch(binding -> !binding.subscription().isEmpty());
    this.retains = !builder.retention.periods().isEmpty();
    this.retention =
        new Retention(
            builder.dataSource, builder.schema, builder.retention, config.name(), listener);
    DataSource direct = builder.direct == null ? builder.dataSource : builder.direct;
    Rings rings = new Rings(routing, ringOwners, carriers.get(0).wakeup());
    this.doorbellListener =
        config.listen() ? new DoorbellListener(direct, builder.schema, rings::heard) : null;
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
    carriers.forEach(threads::startCarrier);
    threads.start(maintenance, "maintain");
    if (retains) {
      threads.start(retention, "retain");
    }
    if (doorbellListener != null) {
      doorbellListener.start();
    }
    if (declares) {
      maintenance.awaitSubscriptions(SUBSCRIBE_WAIT);
    }
    return this;
  }

  /** Tells a relay in the producer's own process that something was committed just now. */
  public void wake() {
    carriers.get(0).wakeup().signal(Wakeup.Reason.LOCAL);
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
    @Nullable String failure = failure();
    boolean running = failure == null && threads.carrying();
    return new RelayStatus(
        config.name(),
        running,
        doorbellListener != null && doorbellListener.listening(),
        carriers.get(0).sinceLoop(),
        destinations,
        failure);
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
      threads.joinCarriers(config.shutdownTimeout());
      dispatchers.forEach(Dispatcher::abandon);
      threads.joinCarriers(END_WAIT);
      maintenance.stop();
      threads.end(END_WAIT);
      if (doorbellListener != null) {
        doorbellListener.stop();
      }
    }
    dispatchers.forEach(Dispatcher::close);
  }

  /** Collects what a relay needs; not thread-safe. */
  public static final class Builder {
    private final DataSource dataSource;
    private final RelayParts plan = new RelayParts();
    private @Nullable DataSource direct;
    private Schema schema = Schema.DEFAULT;
    private RelayConfig config = RelayConfig.defaults();
    private RetentionConfig retention = RetentionConfig.defaults();
    private RelayListener listener = RelayListener.NONE;

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
      plan.destination(name, destination, limits);
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
      plan.route(new RelayParts.PlannedRoute(namespace, topic, "", destination, how));
      return this;
    }

    /**
     * Sends every message of a topic to a destination, beside its other subscriptions. Each
     * subscription has its own progress: order, retries, dead letters, pause. The relay adds the
     * subscription to the topic in the database when it starts, and never removes it.
     *
     * @param name the subscription's name within the topic; {@code default} is the one that {@link
     *     #route} serves
     */
    public Builder subscription(
        String namespace, String topic, String name, String destination, RouteOptions how) {
      plan.route(new RelayParts.PlannedRoute(namespace, topic, name, destination, how));
      return this;
    }

    public Builder subscription(String namespace, String topic, String name, String destination) {
      return subscription(namespace, topic, name, destination, RouteOptions.DEFAULT);
    }

    public Builder route(String namespace, String topic, String destination) {
      return route(namespace, topic, destination, RouteOptions.DEFAULT);
    }

    /**
     * The relay with what was given.
     *
     * @throws PostriderException with everything that is wrong, if something is
     */
    public Relay build() {
      plan.check();
      return new Relay(this);
    }
  }
}
