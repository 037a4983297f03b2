package dev.postrider.spring;

import dev.postrider.destination.Destination;
import dev.postrider.lease.LeaseOptions;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import dev.postrider.message.UnreadablePayloadException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Delivers messages when it is told to, on the caller's thread, with the routes and handlers of the
 * application. For tests: {@link dev.postrider.spring.test.TestOutbox} uses it. Not thread-safe.
 */
public final class ManualRelay implements AutoCloseable {
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final int BATCH = 100;

  private final OutboxSchema database;
  private final Supplier<RelayPlan> plan;
  private final String worker = "test-" + UUID.randomUUID();
  private final Map<String, Destination> opened = new HashMap<>();
  private final Map<UUID, Progress> progress = new HashMap<>();
  private @Nullable List<RelayPlan.Line> lines;

  ManualRelay(OutboxSchema database, Supplier<RelayPlan> plan) {
    this.database = database;
    this.plan = plan;
  }

  /** What became of a message. */
  public record Delivery(Message message, String destination, Outcome outcome) {
    public boolean delivered() {
      return outcome instanceof Outcome.Delivered;
    }
  }

  /**
   * A message with several subscriptions is one row here, which is settled when all of them are
   * done with it.
   *
   * @param done the destinations that took it or gave it up
   * @param given why some gave it up
   */
  private record Progress(Set<String> done, List<String> given) {}

  /** What one call leaves to be settled at its end. */
  private record Later(Map<UUID, String> failed, Set<UUID> behind, Set<String> stuckKeys) {}

  /**
   * Delivers each of these messages that is due, once. Those that fail are due again at once, for
   * the next call. Other messages of their topics were left over by earlier tests: they are marked
   * as dead, so that they do not hold up a key.
   */
  public List<Delivery> deliver(Set<UUID> mine, Set<Route> routes) {
    List<Delivery> deliveries = new ArrayList<>();
    if (routes.isEmpty()) {
      return deliveries;
    }
    routes.forEach(this::lines);
    LeaseStore store = store(LeaseOptions.DEFAULT);
    Later later = new Later(new HashMap<>(), new HashSet<>(), new HashSet<>());
    try {
      // A claim does bounded work, so the first empty one proves nothing.
      for (int empty = 0; empty < 2; ) {
        List<Message> claimed = store.claim(routes, BATCH, LEASE);
        empty = claimed.isEmpty() ? empty + 1 : 0;
        for (Message one : claimed) {
          if (mine.contains(one.id())) {
            carry(one, later, deliveries);
          } else {
            store.markDead(one.id(), "left over by an earlier test");
          }
        }
      }
    } finally {
      Instant due = Instant.now().minusSeconds(60);
      later.failed().forEach((id, error) -> store.failRetry(id, error, due));
      if (!later.behind().isEmpty()) {
        store.release(later.behind());
      }
    }
    return deliveries;
  }

  private void carry(Message message, Later later, List<Delivery> deliveries) {
    String key = message.key() == null ? null : message.route().namespace() + "/" + message.key();
    if (key != null && later.stuckKeys().contains(key)) {
      later.behind().add(message.id());
      return;
    }
    List<Delivery> failed = handOverOpen(message, deliveries);
    if (!failed.isEmpty()) {
      later.failed().put(message.id(), String.valueOf(failed.get(0).outcome()));
      if (key != null) {
        later.stuckKeys().add(key);
      }
    }
  }

  /** Hands it to those that are not done with it; returns what is to be tried again. */
  private List<Delivery> handOverOpen(Message message, List<Delivery> deliveries) {
    Progress now =
        progress.computeIfAbsent(
            message.id(), id -> new Progress(new HashSet<>(), new ArrayList<>()));
    List<Delivery> failed = new ArrayList<>();
    @Nullable String reference = null;
    for (RelayPlan.Line line : lines(message.route())) {
      if (now.done().contains(line.destination())) {
        continue;
      }
      Delivery delivery = handOver(line, message);
      deliveries.add(delivery);
      Outcome outcome = delivery.outcome();
      if (outcome instanceof Outcome.Delivered delivered) {
        reference = delivered.reference();
      } else if (isLast(line, message, outcome)) {
        now.given().add(String.valueOf(outcome));
      } else {
        failed.add(delivery);
        continue;
      }
      now.done().add(line.destination());
    }
    if (failed.isEmpty()) {
      settle(message, now, reference);
    }
    return failed;
  }

  private static boolean isLast(RelayPlan.Line line, Message message, Outcome outcome) {
    return outcome instanceof Outcome.Terminal
        || (outcome instanceof Outcome.Retryable
            && message.attempt() >= line.retry().maxAttempts());
  }

  private void settle(Message message, Progress now, @Nullable String reference) {
    progress.remove(message.id());
    LeaseStore store = store(LeaseOptions.DEFAULT.withRetry(lines(message.route()).get(0).retry()));
    if (now.given().isEmpty()) {
      store.ackSent(message.id(), reference);
    } else {
      store.markDead(message.id(), now.given().get(0));
    }
  }

  /**
   * Hands a message over to the methods of this application and settles nothing: for messages of a
   * transaction that is still open. A handler joins that transaction.
   */
  public List<Delivery> handOver(Message message) {
    return lines(message.route()).stream()
        .filter(line -> line.handler() != null)
        .map(line -> handOver(line, message))
        .toList();
  }

  private Delivery handOver(RelayPlan.Line line, Message message) {
    Handlers.Found handler = line.handler();
    Outcome outcome = handler == null ? send(line, message) : call(handler, message);
    return new Delivery(message, line.destination(), outcome);
  }

  /** Whether a message goes to a method of this application. */
  public boolean handledHere(Route route) {
    return lines(route).stream().anyMatch(line -> line.handler() != null);
  }

  private static Outcome call(Handlers.Found found, Message message) {
    try {
      return found.handler().handle(message);
    } catch (UnreadablePayloadException e) {
      return Outcome.terminal("payload_unreadable", String.valueOf(e.getMessage()));
    } catch (Exception e) {
      return Outcome.retryable("handler_threw", ErrorReport.of(e));
    }
  }

  private Outcome send(RelayPlan.Line line, Message message) {
    Destination destination =
        opened.computeIfAbsent(line.destination(), name -> plan.get().open(name));
    CompletableFuture<Outcome> answer = new CompletableFuture<>();
    destination.deliver(List.of(message), (id, outcome) -> answer.complete(outcome));
    long timeout = plan.get().settings(line.destination()).timeout().toMillis();
    return answer
        .completeOnTimeout(
            Outcome.retryable("timeout", "no answer in " + timeout + " ms"),
            timeout,
            TimeUnit.MILLISECONDS)
        .join();
  }

  /** One for each subscription. */
  private List<RelayPlan.Line> lines(Route route) {
    if (lines == null) {
      lines = plan.get().lines();
    }
    List<RelayPlan.Line> serving = RelayPlan.linesOf(lines, route);
    if (serving.isEmpty()) {
      throw new IllegalStateException(
          "%s has no route, so its messages would wait for ever. Routes of this application: %s."
                  .formatted(route, lines)
              + " Add a bean with @OutboxHandler(namespace = \"%s\", topic = \"%s\") or an entry of"
                  .formatted(route.namespace(), route.topic())
              + " postrider.routes. In an @OutboxTest, name the bean's class with @Import.");
    }
    return serving;
  }

  private LeaseStore store(LeaseOptions options) {
    return new LeaseStore(database.dataSource(), database.schema(), worker, options);
  }

  @Override
  public void close() {
    opened.values().forEach(Destination::close);
    opened.clear();
  }
}
