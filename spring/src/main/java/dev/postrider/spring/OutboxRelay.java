package dev.postrider.spring;

import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayStatus;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.SmartLifecycle;

/**
 * The relay of this application. Adds its subscriptions before the web server starts, so that they
 * get what the first request publishes. Starts after the web server. Stops after the last request
 * and before the DataSource. Thread-safe.
 */
public final class OutboxRelay implements SmartLifecycle, SmartInitializingSingleton {
  /** Web servers have 2048 less than the maximum, their graceful shutdown 1024 less. */
  private static final int PHASE = Integer.MAX_VALUE - 1536;

  private final Runnable subscribe;
  private final Supplier<@Nullable Relay> plan;
  private final LocalWake wake;
  private volatile @Nullable Relay relay;

  OutboxRelay(Runnable subscribe, Supplier<@Nullable Relay> plan, LocalWake wake) {
    this.subscribe = subscribe;
    this.plan = plan;
    this.wake = wake;
  }

  @Override
  public void afterSingletonsInstantiated() {
    subscribe.run();
  }

  @Override
  public synchronized void start() {
    if (relay == null) {
      Relay made = plan.get();
      if (made != null) {
        relay = made.start();
        wake.set(made);
      }
    }
  }

  @Override
  public synchronized void stop() {
    Relay running = relay;
    if (running != null) {
      wake.set(null);
      running.close();
      relay = null;
    }
  }

  @Override
  public boolean isRunning() {
    return relay != null;
  }

  /** How the relay is; empty if it does not run. */
  public Optional<RelayStatus> status() {
    return Optional.ofNullable(relay).map(Relay::status);
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
