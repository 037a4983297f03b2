package dev.postrider.relay;

import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.dispatch.LeaseClock;
import dev.postrider.internal.jdbc.HeldConnection;
import dev.postrider.internal.settle.Leases;
import dev.postrider.internal.wake.Wakeup;
import dev.postrider.observe.RelayListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What goes on beside carrying: timeouts, renewal of leases while a destination is slow, the
 * reaper, fresh routes and pauses, the relay's record in the database, partitions for the days to
 * come. One thread with its own connection.
 */
final class Maintenance implements Runnable {
  private static final Duration TICK = Duration.ofMillis(50);
  private static final Duration REFRESH_EVERY = Duration.ofSeconds(1);
  private static final Duration FLEET_EVERY = Duration.ofSeconds(5);
  private static final int REAP_ALL_EVERY = 6;
  private static final Duration PARTITIONS_EVERY = Duration.ofHours(1);
  private static final Duration AGAIN_MAX = Duration.ofSeconds(10);

  /** A task with the time of its next run. */
  private static final class Chore {
    final String name;
    final Duration every;
    final HeldConnection.Work work;
    boolean unfinished;
    long dueNanos;

    Chore(String name, Duration every, HeldConnection.Work work) {
      this.name = name;
      this.every = every;
      this.work = work;
      this.dueNanos = System.nanoTime();
    }

    /** After a failure it runs soon, so that it is known when the trouble is over. */
    Duration pause(boolean done) {
      if (!done) {
        return shorter(every, AGAIN_MAX);
      }
      return unfinished ? Duration.ZERO : every;
    }
  }

  /** What this relay tells the fleet, and what it knows of the others. */
  record FleetWork(
      Registration registration,
      Declarations declarations,
      UnroutedTopics unrouted,
      RingOwners ringOwners) {}

  private final RelayConfig config;
  private final List<Carrier> carriers;
  private final Sweeps sweeps;
  private final Leases leases;
  private final RelayListener listener;
  private final ReconnectingSession session;
  private final Wakeup wakeup = new Wakeup();
  private final List<Chore> chores = new ArrayList<>();
  private final Chore reaping;
  private final CountDownLatch subscribed = new CountDownLatch(1);
  private volatile boolean stopping;
  private long lowestLease;
  private int reaps;

  Maintenance(
      RelayConfig config,
      Stages stages,
      ReconnectingSession.Factory sessions,
      List<Carrier> carriers,
      List<Dispatcher> dispatchers,
      FleetWork fleet) {
    this.config = config;
    this.carriers = carriers;
    this.sweeps = new Sweeps(dispatchers);
    this.leases = stages.leases();
    this.listener = stages.listener();
    this.session = sessions.open(connection -> {});
    this.reaping = new Chore("reap", config.reapInterval(), this::reap);
    chores.add(new Chore("subscribe", AGAIN_MAX, fleet.declarations::update));
    chores.add(new Chore("renew", config.lease().dividedBy(6), this::renew));
    chores.add(reaping);
    chores.add(
        new Chore("refresh", REFRESH_EVERY, connection -> refresh(connection, stages.routing())));
    chores.add(new Chore("seen", config.reapInterval(), this::seen));
    chores.add(
        new Chore(
            "record",
            REFRESH_EVERY,
            connection -> fleet.registration.update(connection, carriers.get(0).worker())));
    chores.add(
        new Chore("fleet", shorter(FLEET_EVERY, config.reapInterval()), fleet.ringOwners::refresh));
    chores.add(new Chore("unrouted", config.reapInterval(), fleet.unrouted::look));
    chores.add(
        new Chore(
            "partitions",
            PARTITIONS_EVERY,
            connection -> stages.partitions().ensure(connection, config.partitionsAhead())));
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /** What it fails at and will go on failing at unless somebody acts; null if nothing. */
  @Nullable String failure() {
    return session.failure();
  }

  /** Waits until the subscriptions are added, or the first try failed. */
  void awaitSubscriptions(Duration limit) {
    try {
      subscribed.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  void stop() {
    stopping = true;
    wakeup.signal(Wakeup.Reason.STOP);
  }

  @Override
  public void run() {
    try {
      while (!stopping) {
        if (sweeps.run()) {
          wakeLead(); // for a probe
        }
        for (Chore chore : chores) {
          if (System.nanoTime() - chore.dueNanos >= 0 && !stopping) {
            boolean done = session.tryRun(chore.name, chore.work, wakeup);
            chore.dueNanos = System.nanoTime() + chore.pause(done).toNanos();
            subscribed.countDown(); // it is the first chore
          }
        }
        wakeup.pause(TICK);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      session.close();
    }
  }

  private void wakeLead() {
    carriers.get(0).wakeup().signal(Wakeup.Reason.HELP);
  }

  /** Extends the leases of what is still in flight once half of their time is over. */
  private void renew(Connection connection) throws SQLException {
    for (Carrier carrier : carriers) {
      for (LeaseClock clock : carrier.leases()) {
        long now = System.nanoTime();
        if (clock.left(now).compareTo(config.lease().dividedBy(2)) >= 0) {
          continue;
        }
        if (leases.renew(connection, clock.token(), config.lease())) {
          clock.renewed(now, config.lease());
        } else {
          clock.lost();
        }
      }
    }
  }

  private void refresh(Connection connection, Routing routing) throws SQLException {
    if (routing.refresh(connection)) {
      wakeLead(); // for what is no longer paused
    }
  }

  private void seen(Connection connection) throws SQLException {
    leases.seen(connection, carriers.stream().map(Carrier::worker).toList());
  }

  private void reap(Connection connection) throws SQLException {
    // A lease that is lower than the lowest one seen may commit late. So now and then all are
    // looked at; each time would walk over all that ended while somebody holds an old snapshot.
    Leases.Reaped reaped = leases.reap(connection, reaps++ % REAP_ALL_EVERY == 0 ? 0 : lowestLease);
    lowestLease = reaped.lowest();
    reaping.unfinished = reaped.messages() > 0; // one call ends so many leases; others run between
    if (reaped.messages() > 0) {
      listener.reaped(reaped.messages());
      wakeLead();
    }
  }
}
