package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A destination that takes its time is full of the messages of one source. A message of another one
 * gets one of the next free places, and does not wait until an eighth of a batch of them is free.
 */
@Tag("EN-16")
@Tag("EN-20")
@Timeout(60)
class SlowDestinationTest {
  private static final int MOST = 400;
  private static final int THREADS = 2;
  private static final DestinationOptions LIMITS =
      DestinationOptions.DEFAULT.withMaxInFlight(MOST).withTimeout(Duration.ofHours(1));

  @AutoClose private final Post post = new Post();
  private final Semaphore gate = new Semaphore(0);
  private final AtomicInteger handled = new AtomicInteger();

  @AfterEach
  void letTheRelayStop() {
    gate.release(100_000);
  }

  private Outcome deliver(Message message) {
    gate.acquireUninterruptibly();
    Outcome outcome = post.take(message);
    handled.incrementAndGet();
    return outcome;
  }

  private Relay start(String... subscriptions) {
    return start(LIMITS, Post.config(), subscriptions);
  }

  private Relay start(DestinationOptions limits, RelayConfig config, String... subscriptions) {
    Relay.Builder builder =
        post.builder()
            .config(config.withCarriers(1))
            .destination("here", HandlerDestination.of(THREADS, this::deliver), limits)
            .destination("other", post.taking())
            .route("shop", "*", "here")
            .route("other", "*", "other");
    for (String name : subscriptions) {
      builder.subscription("shop", "orders", name, "here");
    }
    return post.start(builder);
  }

  private void enqueue(int count, String fields) {
    post.database.execute(
        "select count(postrider.enqueue('shop', %s)) from generate_series(1, %d) i"
            .formatted(fields, count));
  }

  private long held(String condition) {
    return post.database.count(
        "select count(*) from postrider.queue q join postrider.message m using (id)"
            + " where q.lease is not null and "
            + condition);
  }

  /** As full as claims of an eighth of a batch make it. */
  private void untilFull() {
    await().until(() -> held("true") > MOST - MOST / 8);
  }

  /** So many messages are handled. */
  private void handle(int count) {
    int before = handled.get();
    gate.release(count);
    await().until(() -> handled.get() == before + count);
  }

  /** The next free places are taken at once, and one of the first by this message. */
  private void untilFreshIsTaken(Relay relay) {
    for (int places = 1; !isFreshTaken(); places++) {
      assertThat(places).isLessThan(20);
      long before = held("true");
      long waiting = post.database.count("select count(*) from postrider.queue");
      handle(1);
      await()
          .until(
              () ->
                  isFreshTaken()
                      || (held("true") >= before
                          && post.database.count("select count(*) from postrider.queue")
                              < waiting));
    }
    // A claim is in the database before its messages are with the destination.
    await().until(() -> relay.status().destinations().get("here").inFlight() == held("true"));
  }

  private boolean isFreshTaken() {
    return held("m.payload = '\"fresh\"'") == 1;
  }

  private boolean delivered(String payload) {
    synchronized (post.delivered) {
      return post.delivered.stream().anyMatch(m -> m.text().equals(payload));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          'orders', '{}'                         | 'bills', '"fresh"'
          'orders', '{}', tenant => 'large'      | 'orders', '"fresh"', tenant => 'small'
          'orders', '{}'                         | 'orders', '"fresh"', key => 'k'
          'orders', '{}', key => format('k%s', i % 50) | 'orders', '"fresh"'
          'orders', '{}', key => format('k%s', i % 5)  | 'bills', '"fresh"', key => 'other'
          """,
      quoteCharacter = '~')
  void takesAMessageOfAnotherSourceSoon(String busy, String fresh) {
    enqueue(1000, busy);
    Relay relay = start();
    untilFull();
    enqueue(1, fresh);
    untilFreshIsTaken(relay);
    // Both threads have a message of the busy one, and the next turn may be its turn, too. If the
    // claim is in the database and its messages are not yet with the destination, a few more are.
    for (int turns = 1; !delivered("\"fresh\""); turns++) {
      assertThat(turns).isLessThan(5 * THREADS);
      handle(1);
    }
  }

  /** Its free places are few and are taken one by one, and not the next poll looks for them. */
  @Test
  void takesTheNextMessagesAlsoIfAnotherDestinationHasNone() {
    enqueue(1000, "'orders', '{}'");
    post.database.execute("select postrider.enqueue('other', 'calls', '{}')");
    start(LIMITS, Post.config().withPollInterval(Duration.ofMinutes(1)));
    await().until(() -> post.delivered.size() == 1);
    untilFull();
    for (int i = 0; i < 30; i++) {
      handle(1);
    }
    await()
        .until(
            () ->
                held("true") == MOST
                    && post.database.count("select count(*) from postrider.queue") == 1000 - 30);
  }

  /** It is full of bytes: its next free place is less than a quarter of them. */
  @Test
  void takesASmallMessageBesideLargeOnes() {
    enqueue(60, "'orders', to_jsonb(repeat('x', 200000))::text");
    Relay relay = start(LIMITS.withMaxBytesInFlight(4 << 20), Post.config());
    await().until(() -> held("true") == 20);
    enqueue(1, "'bills', '\"fresh\"'");
    untilFreshIsTaken(relay);
    handle(THREADS + 2);
    assertThat(delivered("\"fresh\"")).isTrue();
  }

  /** A run of one key takes its place again and again, those of others come between. */
  @Test
  void takesAMessageOfAnotherKeyAfterOneOfEach() {
    enqueue(1000, "'orders', '{}', key => 'k' || i % 4");
    Relay relay = start();
    untilFull();
    enqueue(1, "'orders', '\"fresh\"', key => 'other'");
    untilFreshIsTaken(relay);
    handle(THREADS + 5);
    assertThat(delivered("\"fresh\"")).isTrue();
  }

  /** Each has its own claims, and they share the destination's places. */
  @Test
  @Tag("EN-23")
  void sharesItsPlacesAmongSubscriptions() {
    start("mail", "audit");
    await()
        .until(
            () ->
                post.database.count("select count(*) from postrider.subscription where name <> ''")
                    == 2);
    enqueue(1000, "'orders', '{}'");
    untilFull();
    handle(2 * MOST + 100); // each may take all places in its turn, but not again before the others
    synchronized (post.delivered) {
      assertThat(post.delivered.stream().map(m -> m.route().subscription()).distinct().sorted())
          .containsExactly("", "audit", "mail");
    }
  }

  /** More of them than claims of a full size have room. */
  @Test
  @Tag("EN-23")
  void servesEverySubscription() {
    String[] names = new String[12];
    for (int i = 0; i < names.length; i++) {
      names[i] = "s" + i;
    }
    start(names);
    gate.release(100_000);
    await()
        .until(
            () ->
                post.database.count("select count(*) from postrider.subscription where name <> ''")
                    == names.length);
    for (int i = 1; i <= 3; i++) {
      enqueue(1, "'orders', '{}'");
      int messages = i * (names.length + 1);
      await().until(() -> post.delivered.size() == messages);
    }
  }
}
