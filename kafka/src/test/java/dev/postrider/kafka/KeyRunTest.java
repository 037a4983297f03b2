package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several messages of a key in one batch. */
@Tag("OP-6")
@Tag("PO-6")
class KeyRunTest {
  private static final byte[] BODY = {'{', '}'};

  @AutoClose private final Topic topic = Topic.create(Map.of("max.message.bytes", "10000"));
  @AutoClose private final Topic other = Topic.create();

  @AutoClose
  private final KafkaDestination destination =
      KafkaDestination.open(Broker.config().topic("{topic}").build());

  private Message message(String key, byte[] body) {
    return Sample.message(new Route("run", topic.name), key, body, Map.of());
  }

  private List<Message> run(String key, int count) {
    List<Message> run = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      run.add(message(key, BODY));
    }
    return run;
  }

  private List<String> deliver(List<Message> batch) throws Exception {
    return Sample.deliver(destination, batch).stream().map(Sample::code).toList();
  }

  private List<UUID> arrived() {
    return topic.arrivals().stream().map(arrival -> arrival.id()).toList();
  }

  private static List<UUID> ids(List<Message> messages) {
    return messages.stream().map(Message::id).toList();
  }

  @Test
  void arrivesInItsOrder() throws Exception {
    List<Message> run = run("k", 1000);
    assertThat(deliver(run)).containsOnly("delivered");
    assertThat(arrived()).isEqualTo(ids(run));
  }

  @Test
  void endsAtARecordThatTheTopicRefuses() throws Exception {
    List<Message> run = run("k", 10);
    run.set(4, message("k", new byte[20_000]));
    List<String> codes = deliver(run);
    assertThat(codes.subList(0, 4)).containsOnly("delivered");
    assertThat(codes.get(4)).isEqualTo("terminal kafka_too_large");
    assertThat(codes.subList(5, 10)).containsOnly("not sent kafka_aborted");
    assertThat(arrived()).isEqualTo(ids(run.subList(0, 4)));
  }

  /** The client refuses it before it is queued: nothing else is touched. */
  @Test
  void endsAtARecordThatTheClientRefusesAndStopsNoProducer() throws Exception {
    assertThat(deliver(run("k", 2))).containsOnly("delivered");
    OrderingKey key = new OrderingKey("run", "k");
    LiveProducer producer = destination.producerOfRuns(key);
    List<Message> run = run("k", 5);
    run.set(2, message("k", new byte[3 << 20]));
    assertThat(deliver(run))
        .containsExactly(
            "delivered",
            "delivered",
            "terminal kafka_too_large",
            "not sent kafka_behind",
            "not sent kafka_behind");
    assertThat(destination.producerOfRuns(key)).isSameAs(producer);
  }

  @Test
  void afterAFailureItsKeyGoesOneAtATimeUntilOneArrives() throws Exception {
    List<Message> run = run("k", 3);
    assertThat(destination.mayFollow(run.get(0), run.get(1))).isTrue();
    deliver(List.of(run.get(0), message("k", new byte[20_000])));
    assertThat(destination.mayFollow(run.get(0), run.get(1))).isFalse();
    assertThat(destination.mayFollow(message("other", BODY), message("other", BODY))).isTrue();
    assertThat(deliver(List.of(run.get(1)))).containsOnly("delivered");
    assertThat(destination.mayFollow(run.get(1), run.get(2))).isTrue();
  }

  @Test
  void doesNotGoOnInAnotherTopic() throws Exception {
    Message elsewhere = Sample.message(new Route("run", other.name), "k", BODY, Map.of());
    Message first = message("k", BODY);
    assertThat(destination.mayFollow(first, elsewhere)).isFalse();
    assertThat(deliver(List.of(first, elsewhere)))
        .containsExactly("delivered", "not sent kafka_behind");
    assertThat(other.records()).isEmpty();
  }

  @Test
  void toATopicThatDoesNotExistBlamesItsFirstMessageOnly() throws Exception {
    Route missing = new Route("run", "t-" + UUID.randomUUID());
    List<Message> run = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      run.add(Sample.message(missing, "k", BODY, Map.of()));
    }
    assertThat(deliver(run))
        .containsExactly(
            "retryable kafka_unknown_topic", "not sent kafka_behind", "not sent kafka_behind");
  }

  /** A full buffer blocks whoever sends, and so everybody. */
  @Test
  void thatDoesNotFitIntoTheBufferWaitsOutsideOfIt() throws Exception {
    KafkaConfig small = Broker.config().topic(other.name).bufferMemory(1 << 20).build();
    Map<UUID, Outcome> answers = new ConcurrentHashMap<>();
    try (KafkaDestination tight = KafkaDestination.open(small)) {
      assertThat(Sample.deliver(tight, run("k", 2)))
          .allMatch(outcome -> outcome instanceof Outcome.Delivered);
      List<Message> run = new ArrayList<>();
      for (int i = 0; i < 15; i++) {
        run.add(message("k", new byte[100_000]));
      }
      Broker.SERVER.freeze();
      try {
        tight.deliver(run, answers::put);
        assertThat(answers).doesNotContainKey(run.get(0).id());
        assertThat(ids(run.subList(5, 15)))
            .extracting(answers::get)
            .extracting(Sample::code)
            .contains("not sent kafka_busy")
            .containsOnly("not sent kafka_busy", "not sent kafka_behind");
      } finally {
        Broker.SERVER.thaw();
      }
    }
  }

  @Test
  void thatIsInFlightWhenTheDestinationClosesIsAnsweredOnce() throws Exception {
    assertThat(deliver(run("k", 2))).containsOnly("delivered");
    List<Message> run = run("k", 50);
    Map<UUID, Queue<Outcome>> answers = new ConcurrentHashMap<>();
    Broker.SERVER.freeze();
    try {
      destination.deliver(
          run,
          (id, outcome) ->
              answers.computeIfAbsent(id, i -> new ConcurrentLinkedQueue<>()).add(outcome));
      destination.close();
      await().atMost(Duration.ofSeconds(20)).until(() -> answers.size() == 50);
    } finally {
      Broker.SERVER.thaw();
    }
    assertThat(answers.values())
        .allMatch(given -> Collections.frequency(codes(given), "unavailable closed") == 1)
        .allMatch(given -> given.size() == 1);
  }

  private static List<String> codes(Queue<Outcome> outcomes) {
    return outcomes.stream().map(Sample::code).toList();
  }
}
