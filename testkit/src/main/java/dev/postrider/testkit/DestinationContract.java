package dev.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What every {@link Destination} must do. Extend it, give a destination and a way to read what
 * arrived, and run it with JUnit 5:
 *
 * <pre>{@code
 * class MyDestinationTest extends DestinationContract {
 *   protected Destination open() { return new MyDestination(server.address()); }
 *   protected List<Arrival> arrived() { return server.received(); }
 * }
 * }</pre>
 *
 * <p>A destination whose other side can be switched off and on again extends {@link OutageContract}
 * instead. A test may be overridden to state, in code, what a destination does not promise. Not
 * thread-safe: JUnit makes one object per test.
 */
public abstract class DestinationContract {
  private @Nullable Destination destination;
  private @Nullable Courier courier;

  /** A destination that is ready to deliver; called once before each test, closed after it. */
  protected abstract Destination open() throws Exception;

  /** Everything that has arrived in this test so far, in the order of its arrival. */
  protected abstract List<Arrival> arrived() throws Exception;

  /** How long an answer may take. */
  protected Duration timeout() {
    return Duration.ofSeconds(20);
  }

  /** The largest payload that the destination promises to take; the engine's default limit. */
  protected int largestPayload() {
    return 1 << 20;
  }

  /** Where the messages are addressed to, for destinations that care. */
  protected Route route() {
    return new Route("contract", "messages");
  }

  @BeforeEach
  public final void openDestination() throws Exception {
    Destination opened = open();
    destination = opened;
    courier = new Courier(opened, timeout());
  }

  @AfterEach
  public final void closeDestination() {
    if (destination != null) {
      destination.close();
    }
  }

  final Destination destination() {
    return Objects.requireNonNull(destination, "open() was not called");
  }

  final Courier courier() {
    return Objects.requireNonNull(courier, "open() was not called");
  }

  @Test
  public void answersEveryMessageExactlyOnce() {
    List<Message> messages = messages(null, 1, 100);
    Map<UUID, Outcome> outcomes = courier().send(messages);
    assertThat(outcomes.values()).allMatch(outcome -> outcome instanceof Outcome.Delivered);
    courier().send(messages(null, 1, 10));
    destination().close();
    assertThat(messages).allMatch(message -> courier().answersFor(message.id()) == 1);
  }

  @Test
  public void deliversWhatItWasGiven() {
    List<Message> messages =
        List.of(
            message("k", 1, "{\"amount\": 12}", Map.of("trace", "abc", "Empty-Value", "")),
            message(null, 0, "plain text", Map.of()),
            message(null, 0, "", Map.of("x-y", "a; b, c=\"d\"")));
    allArrive(messages);
  }

  @Test
  public void keepsUnicodeInHeadersAndPayload() {
    allArrive(
        List.of(
            message(
                "schlüssel",
                1,
                "{\"grüße\": \"日本語 🚀\"}",
                Map.of("city", "Zürich", "rocket", "🚀", "name", "Łukasz"))));
  }

  @Test
  public void takesALargePayload() {
    byte[] large = new byte[largestPayload()];
    for (int i = 0; i < large.length; i++) {
      large[i] = (byte) ('a' + i % 26);
    }
    allArrive(List.of(message(null, 0, new String(large, StandardCharsets.UTF_8), Map.of())));
  }

  @Test
  public void takesALargeBatch() {
    allArrive(messages(null, 1, 2000));
  }

  @Test
  public void keepsTheOrderOfAKeyWithinABatchAndAcrossBatches() throws Exception {
    for (int batch = 0; batch < 4; batch++) {
      assertDelivered(courier().send(messages("one", 1 + 25 * batch, 25)));
    }
    assertThat(sequencesArrived("one", 100)).isSorted();
  }

  @Test
  public void keepsTheOrderOfEachOfManyKeys() throws Exception {
    List<Message> mixed = new ArrayList<>();
    for (int sequence = 1; sequence <= 20; sequence++) {
      for (int key = 0; key < 10; key++) {
        mixed.addAll(messages("k" + key, sequence, 1));
      }
    }
    assertDelivered(courier().send(mixed));
    for (int key = 0; key < 10; key++) {
      assertThat(sequencesArrived("k" + key, 20)).isSorted();
    }
  }

  @Test
  public void sendsAMessageAgainWhenAsked() {
    List<Message> messages = messages("again", 1, 3);
    allArrive(messages);
    assertDelivered(courier().send(messages));
    assertThat(messages).allMatch(message -> courier().answersFor(message.id()) == 2);
  }

  /** Breakers go by it: one message, one target, also while the destination is busy or closed. */
  @Test
  public void namesTheSameTargetForAMessageAtAnyTime() {
    Message message = messages("one", 1, 1).get(0);
    String target = destination().target(message);
    courier().send(List.of(message));
    assertThat(destination().target(message)).isEqualTo(target);
    destination().close();
    assertThat(destination().target(message)).isEqualTo(target);
  }

  @Test
  public void closesPromptlyAndMoreThanOnce() {
    courier().send(messages(null, 1, 10));
    long start = System.nanoTime();
    assertThatCode(
            () -> {
              destination().close();
              destination().close();
            })
        .as("close() may be called again")
        .doesNotThrowAnyException();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(timeout());
  }

  /** Sends them and finds each on the other side, unchanged. */
  final void allArrive(List<Message> messages) {
    assertDelivered(courier().send(messages));
    await().atMost(timeout()).until(() -> byId(arrived()).keySet().containsAll(ids(messages)));
    for (Message message : messages) {
      Arrival arrival = arrivalOf(message);
      assertThat(arrival.payload()).as("payload of %s", message.id()).isEqualTo(message.payload());
      assertThat(arrival.headers()).containsAllEntriesOf(message.headers());
    }
  }

  private Arrival arrivalOf(Message message) {
    try {
      Arrival arrival = byId(arrived()).get(message.id());
      if (arrival == null) {
        throw new AssertionError("message " + message.id() + " did not arrive");
      }
      return arrival;
    } catch (Exception e) {
      throw new AssertionError("arrived() failed", e);
    }
  }

  static void assertDelivered(Map<UUID, Outcome> outcomes) {
    assertThat(outcomes.values()).allMatch(outcome -> outcome instanceof Outcome.Delivered);
  }

  /** The sequence numbers of a key in the order of their first arrival. */
  final List<Long> sequencesArrived(String key, int atLeast) throws Exception {
    String prefix = "{\"key\":\"" + key + "\",\"n\":";
    await().atMost(timeout()).until(() -> firstArrivals(prefix).size() >= atLeast);
    return firstArrivals(prefix);
  }

  private List<Long> firstArrivals(String prefix) throws Exception {
    List<Long> sequences = new ArrayList<>();
    for (Arrival arrival : byId(arrived()).values()) {
      String text = new String(arrival.payload(), StandardCharsets.UTF_8);
      if (text.startsWith(prefix)) {
        sequences.add(Long.parseLong(text.substring(prefix.length(), text.length() - 1)));
      }
    }
    return sequences;
  }

  static Map<UUID, Arrival> byId(List<Arrival> arrivals) {
    Map<UUID, Arrival> first = new LinkedHashMap<>();
    for (Arrival arrival : List.copyOf(arrivals)) {
      first.putIfAbsent(arrival.id(), arrival);
    }
    return first;
  }

  static List<UUID> ids(List<Message> messages) {
    return messages.stream().map(Message::id).toList();
  }

  /** Messages of a key (or none) with sequence numbers from the first on. */
  final List<Message> messages(@Nullable String key, long first, int count) {
    List<Message> messages = new ArrayList<>();
    for (long sequence = first; sequence < first + count; sequence++) {
      String json = "{\"key\":\"" + key + "\",\"n\":" + sequence + "}";
      messages.add(message(key, sequence, json, Map.of("n", Long.toString(sequence))));
    }
    return messages;
  }

  private Message message(
      @Nullable String key, long sequence, String payload, Map<String, String> headers) {
    return new Message(
        UUID.randomUUID(),
        route(),
        key,
        sequence,
        null,
        "tenant-1",
        "order",
        "4711",
        "created",
        payload.startsWith("{") ? Message.JSON : "text/plain",
        payload.startsWith("{"),
        headers,
        payload.getBytes(StandardCharsets.UTF_8),
        Instant.now(),
        1,
        1,
        sequence + 1);
  }
}
