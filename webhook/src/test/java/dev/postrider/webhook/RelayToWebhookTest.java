package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Backoff;
import dev.postrider.message.NewMessage;
import dev.postrider.message.RetryPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.relay.RouteOptions;
import dev.postrider.testkit.TestPostgres;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** From a committed transaction to a real endpoint, through a real relay and database. */
@Tag("OP-6")
@Tag("EN-10")
@Timeout(240)
class RelayToWebhookTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final RouteOptions QUICK =
      RouteOptions.DEFAULT.withRetry(
          RetryPolicy.DEFAULT.withBackoff(
              new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(1), 0)));
  private static TestPostgres database;

  /** Keys of its own for each test, so that every key starts at 1. */
  private final String run = UUID.randomUUID().toString();

  private final Receiver receiver = Receiver.plain();
  private final Queue<Receiver.Request> accepted = new ConcurrentLinkedQueue<>();
  private final Queue<String> gone = new ConcurrentLinkedQueue<>();
  private WebhookDestination destination;
  private Relay relay;

  @BeforeAll
  static void startDatabase() {
    database = TestPostgres.start();
  }

  @AfterAll
  static void stopDatabase() {
    database.close();
  }

  @BeforeEach
  void start() {
    destination = Hooks.open(Hooks.to(receiver).concurrency(16).onGone(gone::add));
    relay =
        Relay.builder(database.dataSource())
            .config(RelayConfig.defaults().withPollInterval(Duration.ofMillis(50)))
            .destination(
                "hook",
                destination,
                DestinationOptions.DEFAULT.withBreaker(
                    new BreakerOptions(5, Duration.ofMillis(100), Duration.ofMillis(400))))
            .route("shop", "orders", "hook", QUICK)
            .build();
    accept();
  }

  @AfterEach
  void stop() {
    relay.close();
    receiver.close();
    database.execute("truncate postrider.queue, postrider.message, postrider.attempt");
  }

  private void accept() {
    receiver.behave(this::take);
  }

  private Receiver.Answer take(Receiver.Request request) {
    accepted.add(request);
    return Receiver.Answer.of(204);
  }

  private void enqueue(int keys, int each) throws Exception {
    try (Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      for (int n = 1; n <= each; n++) {
        for (int key = 0; key < keys; key++) {
          NewMessage.Builder message =
              NewMessage.to("shop", "orders").key(run + "-" + key).json("{\"n\": " + n + "}");
          new Outbox().enqueue(connection, message.build());
        }
      }
      connection.commit();
    }
  }

  private void untilEmpty() {
    await().atMost(LIMIT).until(() -> database.count("select count(*) from postrider.queue") == 0);
  }

  /** Each key's messages in the order of their first acceptance: all of them, none overtaken. */
  private void assertAllInOrder(int keys, int each) {
    Map<String, Set<Long>> seen = new HashMap<>();
    for (Receiver.Request request : accepted) {
      seen.computeIfAbsent(request.header("x-key"), key -> new LinkedHashSet<>())
          .add(Long.parseLong(request.header("x-sequence")));
    }
    assertThat(seen).hasSize(keys);
    seen.forEach((key, sequences) -> assertThat(sequences).as(key).hasSize(each));
    seen.forEach((key, sequences) -> assertThat(new ArrayList<>(sequences)).as(key).isSorted());
  }

  @Test
  void aReceiverThatAsksForTimeGetsIt() throws Exception {
    receiver.behave(
        request ->
            receiver.requests().size() == 1
                ? Receiver.Answer.of(503).with("Retry-After", "3")
                : take(request));
    enqueue(1, 1);
    relay.start();
    untilEmpty();
    List<Receiver.Request> requests = receiver.requests();
    assertThat(requests).hasSize(2);
    assertThat(Duration.ofNanos(requests.get(1).atNanos() - requests.get(0).atNanos()))
        .isGreaterThanOrEqualTo(Duration.ofMillis(2900));
    assertThat(requests.get(1).header("webhook-id"))
        .isEqualTo(requests.get(0).header("webhook-id"));
    assertThat(requests).extracting(r -> r.header("x-attempts")).containsExactly("1", "2");
  }

  @Test
  void aKeysOrderSurvivesServerErrors() throws Exception {
    Set<String> failed = ConcurrentHashMap.newKeySet();
    receiver.behave(
        request -> {
          boolean third = request.header("x-sequence").equals("3");
          return third && failed.add(request.header("x-key"))
              ? Receiver.Answer.of(500)
              : take(request);
        });
    enqueue(10, 8);
    relay.start();
    untilEmpty();
    assertThat(failed).hasSize(10);
    assertAllInOrder(10, 8);
    assertThat(accepted).hasSize(80);
  }

  @Test
  void nothingIsLostWhenTheEndpointIsRestarted() throws Exception {
    Semaphore places = new Semaphore(200); // So that each stop finds requests on their way.
    receiver.behave(request -> takeIfThereIsRoom(places, request));
    enqueue(20, 50);
    relay.start();
    for (int restart = 1; restart <= 3; restart++) {
      int enough = restart * 200;
      await().atMost(LIMIT).until(() -> accepted.size() >= enough);
      receiver.stop();
      await().atMost(LIMIT).until(() -> !"closed".equals(breaker()));
      receiver.start();
      places.release(200);
    }
    places.release(1000);
    untilEmpty();
    assertAllInOrder(20, 50);
    assertThat(database.count("select count(*) from postrider.dead_letter")).isZero();
  }

  private Receiver.Answer takeIfThereIsRoom(Semaphore places, Receiver.Request request) {
    try {
      places.acquire();
    } catch (InterruptedException e) { // The receiver stops.
      Thread.currentThread().interrupt();
      return Receiver.Answer.of(503);
    }
    return take(request);
  }

  private String breaker() {
    return relay.status().destinations().get("hook").breaker();
  }

  @Test
  void whatAGoneEndpointDidNotTakeWaitsUntilItIsEnabled() throws Exception {
    receiver.answer(Receiver.Answer.of(410));
    enqueue(5, 4);
    relay.start();
    await().atMost(LIMIT).until(() -> !"closed".equals(breaker()) && !gone.isEmpty());
    assertThat(gone).hasSize(1);
    assertThat(database.count("select count(*) from postrider.queue")).isEqualTo(20);
    accept();
    destination.enable();
    untilEmpty();
    assertAllInOrder(5, 4);
    assertThat(accepted).allMatch(request -> request.header("x-attempts").equals("1"));
  }
}
