package dev.postrider.server.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.server.Desk;
import dev.postrider.testkit.TestPostgres;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Who says the last position that it saw misses nothing and gets nothing twice. */
@Timeout(120)
@Tag("CH-3")
class StreamResumeTest {
  private static final int ROOMS = 3;
  private static final int MESSAGES = 250;

  /** A window far smaller than the log, so that clients go from pages to the window and back. */
  private final Station station = new Station(Station.CONFIG.withBuffer(60, 1 << 20));

  private final ExecutorService pool = Executors.newCachedThreadPool();

  @Test
  @Tag("CH-4")
  @Tag("CH-10")
  void cutsAtRandomPlacesOnTwoNodesLoseNothing() throws Exception {
    long seed = System.nanoTime();
    try (station;
        Node other =
            new Node(Desk.on(station.desk.postgres, server -> server.streams(Station.CONFIG)))) {
      List<Future<?>> writers = new ArrayList<>();
      for (int room = 0; room < ROOMS; room++) {
        String name = Integer.toString(room);
        writers.add(
            pool.submit(
                () -> {
                  station.sayOneByOne(name, MESSAGES);
                  return null;
                }));
      }
      List<Future<List<JsonNode>>> readers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Random random = new Random(seed + i);
        readers.add(pool.submit(() -> follow(random, List.of(station.desk, other.desk))));
      }
      for (Future<?> writer : writers) {
        writer.get();
      }
      for (Future<List<JsonNode>> reader : readers) {
        assertWhole(seed, reader.get());
      }
    } finally {
      pool.shutdownNow();
    }
  }

  /** A second server on the same database. */
  private record Node(Desk desk) implements AutoCloseable {
    @Override
    public void close() {
      desk.server.close();
    }
  }

  /** Reads some lines, hangs up, resumes on either node, until it has all. */
  private List<JsonNode> follow(Random random, List<Desk> nodes) throws Exception {
    List<JsonNode> events = new ArrayList<>();
    long position = 0;
    while (events.size() < ROOMS * MESSAGES) {
      Desk node = nodes.get(random.nextInt(nodes.size()));
      try (Listener listener = Listener.silent(node, station.token, "?after=" + position)) {
        assertThat(listener.response.statusCode()).isEqualTo(200);
        int missing = ROOMS * MESSAGES - events.size();
        // The first line says where it starts.
        listener.readMost(1 + Math.min(missing, 1 + random.nextInt(120))).join();
        events.addAll(listener.events());
        position = listener.position();
      }
    }
    return events;
  }

  private void assertWhole(long seed, List<JsonNode> events) {
    assertThat(events)
        .as("seed %s", seed)
        .map(event -> event.get("event_id").asString())
        .containsExactlyInAnyOrderElementsOf(station.sentIds());
    Map<String, Integer> last = new HashMap<>();
    for (int i = 0; i < events.size(); i++) {
      JsonNode event = events.get(i);
      assertThat(event.get("position").asLong()).isEqualTo(i + 1);
      int n = event.get("payload").get("n").asInt();
      Integer before = last.put(event.get("aggregate_id").asString(), n);
      assertThat(n).as("order within the aggregate").isEqualTo(before == null ? 1 : before + 1);
    }
  }

  @Test
  void whoComesLateMeetsTheTailWithoutASeam() throws Exception {
    try (station) {
      station.say("a", 1, 500);
      try (Listener all = Listener.open(station.desk, station.token, "?after=earliest");
          Listener one = Listener.open(station.desk, station.token, "?after=0&tenant=tenant-b")) {
        Future<?> writer =
            pool.submit(
                () -> {
                  station.sayOneByOne("b", 200);
                  return null;
                });
        writer.get();
        all.awaitEvents(700);
        one.awaitEvents(200);
        station.say("b", 201, 1);
        all.awaitEvents(701);
        one.awaitEvents(201);
        assertThat(all.values("event_id")).doesNotHaveDuplicates().hasSize(701);
        assertThat(one.events())
            .map(event -> event.get("payload").get("n").asInt())
            .isSorted()
            .doesNotHaveDuplicates()
            .hasSize(201);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void whatWasPurgedIsGone() throws Exception {
    try (station) {
      station.say("a", 1, 100);
      await()
          .until(
              () -> station.desk.postgres.count("select count(*) from postrider.stream_event"),
              count -> count == 100);
      station.desk.postgres.execute("delete from postrider.stream_event where position <= 30");
      Desk.Answer answer = station.desk.get(station.token, "/v1/streams/events?after=29");
      assertThat(answer.status()).isEqualTo(410);
      assertThat(answer.header(StreamFeature.OLDEST)).isEqualTo("31");
      assertThat(answer.text()).contains("oldest event has position 31");
      try (Listener listener = Listener.open(station.desk, station.token, "?after=earliest")) {
        assertThat(listener.awaitEvents(70).events().get(0).get("position").asLong()).isEqualTo(31);
      }
    }
  }

  @Test
  void theDatabaseMayRestart() throws Exception {
    try (station;
        TestPostgres own = TestPostgres.startDurable();
        Station mortal = new Station(Desk.on(own, server -> server.streams(Station.CONFIG)));
        Listener listener = Listener.open(mortal.desk, mortal.token, "?after=0")) {
      mortal.say("a", 1, 50);
      listener.awaitEvents(50);
      own.server().restart();
      mortal.say("a", 51, 50);
      listener.awaitEvents(100);
      own.server().kill();
      own.server().restart();
      mortal.say("a", 101, 50);
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () ->
                  listener.events().stream()
                          .map(event -> event.get("payload").get("n").asInt())
                          .distinct()
                          .count()
                      == 150);
      assertThat(listener.events())
          .map(event -> event.get("position").asLong())
          .isSorted()
          .doesNotHaveDuplicates();
      assertThat(listener.records).noneMatch(record -> record.has("end"));
    }
  }
}
