package dev.postrider.bench;

import dev.postrider.bench.peer.Harness;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A process with a harness in it; see there for what it understands. Used by one thread. */
final class PeerProcess implements AutoCloseable {
  private static final long LIMIT_SECONDS = 180;
  private static final String HEAP = "-Xmx512m";
  private static final String ENDED = "ended";

  private final String name;
  private final Process process;
  private final PrintWriter commands;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

  private PeerProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    this.commands = new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8);
    Thread reader = new Thread(this::read, name + "-answers");
    reader.setDaemon(true);
    reader.start();
  }

  static PeerProcess start(Contestant contestant, String url) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElse("java"),
                HEAP,
                "-cp",
                classpath(contestant.module()),
                Harness.class.getName(),
                contestant.peer(),
                url)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    return new PeerProcess(contestant.name(), builder.start());
  }

  private static String classpath(String module) throws IOException {
    if (module.isEmpty()) {
      return System.getProperty("java.class.path");
    }
    Path target = Path.of(System.getProperty("bench.peers", "bench/peers"), module, "target");
    Path classpath = target.resolve("classpath");
    if (!Files.exists(classpath)) {
      throw new IllegalStateException(
          "no %s: build it with ./mvnw -pl bench -am package, or say where the peers are with -Dbench.peers"
              .formatted(classpath.toAbsolutePath()));
    }
    return target.resolve("classes") + File.pathSeparator + Files.readString(classpath);
  }

  /** What a harness answered: a word and named values. */
  record Answer(String word, Map<String, String> values) {
    static Answer parse(String line) {
      String[] parts = line.split(" ", -1);
      Map<String, String> values = new HashMap<>();
      for (int i = 1; i < parts.length; i++) {
        int equals = parts[i].indexOf('=');
        if (equals > 0) {
          values.put(parts[i].substring(0, equals), parts[i].substring(equals + 1));
        }
      }
      return new Answer(parts[0], values);
    }

    String text(String value) {
      String text = values.get(value);
      if (text == null) {
        throw new IllegalStateException("no " + value + " in the answer " + word);
      }
      return text;
    }

    long number(String value) {
      return Long.parseLong(text(value));
    }
  }

  void say(String command) {
    commands.println(command);
  }

  /** Waits for the next answer, which must begin with this word. */
  Answer expect(String word) throws InterruptedException {
    String line = answers.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
    if (line == null) {
      throw new IllegalStateException(name + ": no answer in " + LIMIT_SECONDS + " s");
    }
    Answer answer = Answer.parse(line);
    if (!answer.word().equals(word)) {
      throw new IllegalStateException(name + ": expected " + word + ", got " + line);
    }
    return answer;
  }

  Answer ask(String command, String word) throws InterruptedException {
    say(command);
    return expect(word);
  }

  private void read() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      lines.lines().forEach(answers::add);
    } catch (IOException | UncheckedIOException e) {
      // ended, as said below
    }
    answers.add(ENDED);
  }

  /** The end of its input ends it; if not, it is killed. */
  @Override
  public void close() {
    commands.close();
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
    }
  }
}
