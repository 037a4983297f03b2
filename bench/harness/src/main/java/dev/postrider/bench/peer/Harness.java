package dev.postrider.bench.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The process of a peer: takes commands on standard input, one a line, and answers on standard
 * output.
 *
 * <pre>
 * install                       done
 * load COUNT                    done
 * enqueue PRODUCERS MILLIS      ready, (go), done from= to= count= cpu=, closed heap=
 * drain COUNT all|shared        ready, (go), done from= to= cpu=, closed handled= seen= heap=
 * handle COUNT                  ready; handles until stop
 * both COUNT                    ready; the same, and produces in this process, too
 * produce COUNT PERIOD_NANOS    done sent=; one order each period
 * arrivals MILLIS               done times=; waits so long for the missing
 * stop                          closed handled=
 * </pre>
 *
 * Times are nanoseconds of the system's monotonic clock, which all processes share; cpu is in
 * microseconds, heap in bytes that are alive. After "ready" it waits for "go", so that whoever
 * measures the server can look at it first. A command that fails answers "failed" and why. The end
 * of the input ends the process.
 */
public final class Harness {
  private final Peer peer;
  private final Site site;
  private final BufferedReader commands;
  private final PrintStream answers;
  private @Nullable Listening listening;

  private Harness(Peer peer, Site site, BufferedReader commands, PrintStream answers) {
    this.peer = peer;
    this.site = site;
    this.commands = commands;
    this.answers = answers;
  }

  /** Arguments: the peer's class and the database's JDBC URL. */
  public static void main(String[] arguments) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err); // what libraries print is not an answer
    Peer peer =
        Class.forName(arguments[0]).asSubclass(Peer.class).getDeclaredConstructor().newInstance();
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    new Harness(peer, new Site(arguments[1]), commands, answers).run();
    System.exit(0); // whatever threads a peer has left
  }

  private void run() throws IOException {
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      try {
        obey(line.split(" ", -1));
      } catch (Exception | LinkageError e) {
        e.printStackTrace();
        say("failed " + e);
      }
    }
  }

  private void obey(String[] command) throws Exception {
    switch (command[0]) {
      case "install" -> {
        site.execute(Order.TABLE);
        peer.install(site);
        say("done");
      }
      case "load" -> {
        peer.load(site, Integer.parseInt(command[1]));
        say("done");
      }
      case "enqueue" -> enqueue(Integer.parseInt(command[1]), Long.parseLong(command[2]));
      case "drain" -> drain(Integer.parseInt(command[1]), command[2].equals("shared"));
      case "handle" -> listen(Peer.Role.HANDLER, Integer.parseInt(command[1]));
      case "both" -> listen(Peer.Role.BOTH, Integer.parseInt(command[1]));
      case "produce" -> produce(Integer.parseInt(command[1]), Long.parseLong(command[2]));
      case "arrivals" -> say("done times=" + listening().await(Long.parseLong(command[1])));
      case "stop" -> {
        Listening stopped = listening();
        listening = null;
        stopped.close();
        say("closed handled=" + stopped.arrivals().total());
      }
      default -> throw new IllegalArgumentException("no such command: " + command[0]);
    }
  }

  private void enqueue(int producers, long millis) throws Exception {
    long heap;
    try (Peer.Session session = peer.open(site, Peer.Role.PRODUCER, payload -> {});
        Senders senders = new Senders(session, producers)) {
      awaitGo();
      long from = System.nanoTime();
      long cpu = Self.cpuMicros();
      long count = senders.sendFor(millis * 1_000_000);
      long to = System.nanoTime();
      sayDone(from, to, "count=" + count + " cpu=" + (Self.cpuMicros() - cpu));
      heap = Self.heapBytes();
    }
    say("closed heap=" + heap);
  }

  private void drain(int count, boolean shared) throws Exception {
    Arrivals arrivals = new Arrivals(count);
    long heap;
    try (Peer.Session session = peer.open(site, Peer.Role.HANDLER, arrivals);
        Emptiness emptiness = new Emptiness(site, peer.idle(), arrivals)) {
      awaitGo();
      session.start();
      long from = System.nanoTime();
      long cpu = Self.cpuMicros();
      long to = emptiness.await(shared);
      sayDone(from, to, "cpu=" + (Self.cpuMicros() - cpu));
      heap = Self.heapBytes();
    }
    say("closed handled=%d heap=%d seen=%s".formatted(arrivals.total(), heap, arrivals.seen()));
  }

  private void listen(Peer.Role role, int count) throws Exception {
    if (listening != null) {
      throw new IllegalStateException("it handles already; stop it first");
    }
    listening = Listening.start(peer, site, role, count);
    say("ready");
  }

  private void produce(int count, long periodNanos) throws Exception {
    if (listening != null && listening.role().produces()) {
      say("done sent=" + Pace.send(listening.session(), count, periodNanos));
      return;
    }
    try (Peer.Session session = peer.open(site, Peer.Role.PRODUCER, payload -> {})) {
      say("done sent=" + Pace.send(session, count, periodNanos));
    }
  }

  private Listening listening() {
    if (listening == null) {
      throw new IllegalStateException("it handles nothing; say handle or both first");
    }
    return listening;
  }

  private void awaitGo() throws IOException {
    say("ready");
    String line = commands.readLine();
    if (!"go".equals(line)) {
      throw new IllegalStateException("expected go, got " + line);
    }
  }

  private void sayDone(long fromNanos, long toNanos, String rest) {
    say("done from=%d to=%d %s".formatted(fromNanos, toNanos, rest));
  }

  private void say(String answer) {
    answers.println(answer);
    answers.flush();
  }
}
