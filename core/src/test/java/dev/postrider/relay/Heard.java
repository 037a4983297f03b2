package dev.postrider.relay;

import dev.postrider.message.Message;
import dev.postrider.message.Settlement;
import dev.postrider.observe.RelayListener;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Remembers what a relay told. Thread-safe. */
final class Heard implements RelayListener {
  final List<String> wakeups = new CopyOnWriteArrayList<>();
  final AtomicInteger claims = new AtomicInteger();
  final List<String> breakers = new CopyOnWriteArrayList<>();
  final List<String> targets = new CopyOnWriteArrayList<>();
  final List<String> violations = new CopyOnWriteArrayList<>();
  final List<Settlement> conflicts = new CopyOnWriteArrayList<>();
  final List<String> databaseFailures = new CopyOnWriteArrayList<>();
  final Queue<Message> sent = new ConcurrentLinkedQueue<>();

  @Override
  public void woken(String reason) {
    wakeups.add(reason);
  }

  @Override
  public void claimed(int messages, Duration took) {
    claims.incrementAndGet();
  }

  @Override
  public void breaker(String destination, String state) {
    breakers.add(state);
  }

  @Override
  public void targetBreaker(String destination, String target, String state) {
    targets.add(target + " " + state);
  }

  @Override
  public void violation(String destination, String what) {
    violations.add(what);
  }

  @Override
  public void conflict(String destination, Settlement settlement) {
    conflicts.add(settlement);
  }

  @Override
  public void databaseFailed(String kind, Exception error) {
    databaseFailures.add(kind);
  }

  @Override
  public void sent(String destination, Message message) {
    sent.add(message);
  }
}
