package dev.postrider.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.sql.Connection;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Many clients connected to one node with 256 MB of heap, at 200 events a second in total: once
 * each follows a room of its own, once everyone follows everything. Times are from just before the
 * enqueue to the client.
 */
final class StreamScenario implements Scenario {
  private static final int EVENTS_PER_SECOND = 200;
  private static final int ROUND_FACTOR = 5;
  private static final int HEAP_MB = 256;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LAST_EVENTS = Duration.ofSeconds(5);

  @Override
  public String name() {
    return "stream";
  }

  @Override
  public String summary() {
    return "1000 stream clients on one node with 256 MB of heap, 200 events/s in total";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    report.row("clients follow", "behind", "p50 ms", "p99 ms", "events/s received", "heap MB");
    Process process = node(database.jdbcUrl());
    try (BufferedReader said = process.inputReader(UTF_8);
        BufferedWriter ask = process.outputWriter(UTF_8)) {
      Node node = Node.of(said, ask);
      long behind = 0;
      double heap = 0;
      for (boolean rooms : new boolean[] {true, false}) {
        Round round = round(database, options, node, rooms);
        report.row(round.cells(rooms ? "a room each" : "everything"));
        report.figure(rooms ? "rooms_p99_ms" : "everything_p99_ms", round.p99);
        behind += round.behind;
        heap = Math.max(heap, round.heapMb);
      }
      report.row("", "measured", "goal", "");
      report.ratio("stream_clients_behind", (double) behind);
      report.ratio("stream_heap_mb", heap);
    } finally {
      process.destroy();
    }
  }

  private static Process node(String url) throws IOException {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElse("java"),
            "-Xmx" + HEAP_MB + "m",
            "-XX:+ExitOnOutOfMemoryError",
            "-cp",
            System.getProperty("java.class.path"),
            StreamNode.class.getName(),
            url)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private record Node(int port, String token, BufferedReader said, BufferedWriter ask) {
    static Node of(BufferedReader said, BufferedWriter ask) throws IOException {
      String[] words = line(said).split(" ", -1);
      return new Node(Integer.parseInt(words[0]), words[1], said, ask);
    }

    double heapMb() throws IOException {
      ask.write("heap\n");
      ask.flush();
      return Double.parseDouble(line(said));
    }

    private static String line(BufferedReader said) throws IOException {
      String line = said.readLine();
      if (line == null) {
        throw new IOException("the node has ended");
      }
      return line;
    }
  }

  private record Round(long behind, double p50, double p99, double received, double heapMb) {
    String[] cells(String name) {
      return new String[] {
        name,
        Long.toString(behind),
        String.format(Locale.ROOT, "%.1f", p50),
        String.format(Locale.ROOT, "%.1f", p99),
        String.format(Locale.ROOT, "%.0f", received),
        String.format(Locale.ROOT, "%.0f", heapMb)
      };
    }
  }

  private static Round round(BenchDatabase database, Options options, Node node, boolean rooms)
      throws Exception {
    int clients = options.clients();
    double seconds = options.seconds() * ROUND_FACTOR;
    // The same number for each room, so that everyone knows what to expect.
    int perRoom = (int) Math.max(1, Math.round(EVENTS_PER_SECOND * seconds / clients));
    int events = perRoom * clients;
    StreamClients listening = new StreamClients();
    try (listening) {
      listening.start();
      for (int client = 0; client < clients; client++) {
        String room = "?aggregate_type=room&aggregate_id=" + client;
        listening.connect(node.port, node.token, rooms ? room : "");
      }
      await(PATIENCE, () -> listening.started() == clients, "clients to connect");
      send(database, events, clients);
      long expected = (long) clients * (rooms ? perRoom : events);
      waitFor(LAST_EVENTS, () -> listening.events() >= expected);
    }
    return new Round(
        listening.behind(rooms ? perRoom : events),
        listening.delayMillis(0.5),
        listening.delayMillis(0.99),
        listening.events() * (double) EVENTS_PER_SECOND / events,
        node.heapMb());
  }

  /** At a steady pace, each in a transaction of its own. */
  private static void send(BenchDatabase database, int events, int rooms) throws Exception {
    Outbox outbox = new Outbox();
    long start = System.nanoTime();
    try (Connection connection = database.transaction()) {
      for (int n = 0; n < events; n++) {
        long due = start + n * 1_000_000_000L / EVENTS_PER_SECOND;
        LockSupport.parkNanos(due - System.nanoTime());
        outbox.enqueue(connection, message(n % rooms));
        connection.commit();
      }
    }
  }

  private static NewMessage message(int room) {
    return NewMessage.to("bench", "stream")
        .json("{\"at\":\"%019d\"}".formatted(System.nanoTime()))
        .aggregate("room", Integer.toString(room))
        .eventType("said")
        .build();
  }

  private static void await(Duration patience, BooleanSupplier done, String what) {
    if (!waitFor(patience, done)) {
      throw new IllegalStateException("waited in vain for " + what);
    }
  }

  private static boolean waitFor(Duration patience, BooleanSupplier done) {
    long end = System.nanoTime() + patience.toNanos();
    while (!done.getAsBoolean() && System.nanoTime() < end) {
      LockSupport.parkNanos(1_000_000);
    }
    return done.getAsBoolean();
  }
}
