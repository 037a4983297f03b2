package dev.postrider.kafka.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * A Kafka broker, its own controller (KRaft), in a JVM of its own, so that it can be killed. It
 * listens on the loopback address: on one port everyone is a superuser, on another users sign in
 * with SCRAM-SHA-256 and need ACLs, on a third there is TLS if it gets a key store. Topics are
 * never created by themselves. Thread-safe: lifecycle methods exclude each other.
 */
public final class KafkaServer implements AutoCloseable {
  /** How many ports a broker needs; the third is its controller's. */
  static final int PORTS = 4;

  private final Path directory;
  private final int port;
  private final int saslPort;
  private final int tlsPort;
  private final BrokerProcess process;
  private final Thread closeAtExit = new Thread(this::closeNow, "kafka-server-close");
  private boolean closed;

  private KafkaServer(Path directory, List<Integer> ports, BrokerProcess process) {
    this.directory = directory;
    this.port = ports.get(0);
    this.saslPort = ports.get(1);
    this.tlsPort = ports.get(3);
    this.process = process;
  }

  /** Starts a broker with an empty log and returns when it answers. */
  public static KafkaServer start() {
    return start(Map.of());
  }

  /**
   * Starts a broker with settings of {@code server.properties} besides or instead of its own.
   *
   * @return when it answers
   */
  public static KafkaServer start(Map<String, String> settings) {
    KafkaServer server = prepare(settings, freePorts(PORTS));
    server.begin();
    server.untilReady();
    return server;
  }

  /** A broker that is not started. */
  static KafkaServer prepare(Map<String, String> settings, List<Integer> ports) {
    try {
      Path directory = Files.createTempDirectory("postrider-kafka");
      Map<String, String> all = settings(directory, ports);
      all.putAll(listeners(ports, settings.keySet().stream().anyMatch(KafkaServer::isOfTls)));
      all.putAll(settings);
      Path file = directory.resolve("server.properties");
      Files.writeString(file, text(all), StandardCharsets.UTF_8);
      BrokerProcess process = new BrokerProcess(classPath(), file, ports.get(0));
      return new KafkaServer(directory, ports, process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The address where everyone may do everything. */
  public String address() {
    return "127.0.0.1:" + port;
  }

  /** The address where users sign in with SCRAM-SHA-256, unencrypted. */
  public String saslAddress() {
    return "127.0.0.1:" + saslPort;
  }

  /**
   * The address with TLS, where everyone may do everything; it works if the settings name a key
   * store as {@code listener.name.tls.ssl.keystore.…}.
   */
  public String tlsAddress() {
    return "localhost:" + tlsPort;
  }

  /** SIGKILL, as a crash would. Does nothing when it is not running. */
  public synchronized void kill() {
    process.kill();
  }

  /**
   * SIGSTOP: connections stay open, and nothing is answered. Ends with {@link #thaw}, or with
   * {@link #restart} without what it had not read.
   */
  public synchronized void freeze() {
    process.freeze();
  }

  /** SIGCONT: it goes on with what clients sent meanwhile. */
  public synchronized void thaw() {
    process.thaw();
  }

  /** Starts it again after a kill, with the same data and ports; returns when it answers. */
  public synchronized void restart() {
    if (closed) {
      throw new IllegalStateException("the broker on port " + port + " is closed");
    }
    process.kill();
    process.start();
  }

  /** Stops it for good and deletes its data. */
  @Override
  public void close() {
    if (closeNow()) {
      try {
        Runtime.getRuntime().removeShutdownHook(closeAtExit);
      } catch (IllegalStateException shuttingDown) {
        // The hook is about to run, or has run, and finds nothing to do.
      }
    }
  }

  private synchronized boolean closeNow() {
    if (closed) {
      return false;
    }
    closed = true;
    process.kill();
    delete(directory);
    return true;
  }

  /** Starts it and returns at once. */
  synchronized void begin() {
    Runtime.getRuntime().addShutdownHook(closeAtExit);
    orClose(
        () -> {
          process.format();
          process.begin();
        });
  }

  /** Returns when it answers. */
  synchronized void untilReady() {
    orClose(process::untilListening);
  }

  private void orClose(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private static Map<String, String> settings(Path directory, List<Integer> ports) {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("process.roles", "broker,controller");
    settings.put("node.id", "1");
    settings.put("controller.quorum.voters", "1@127.0.0.1:" + ports.get(2));
    settings.put("inter.broker.listener.name", "PLAIN");
    settings.put("controller.listener.names", "CONTROLLER");
    settings.put("sasl.enabled.mechanisms", "SCRAM-SHA-256");
    settings.put(
        "listener.name.sasl.scram-sha-256.sasl.jaas.config",
        "org.apache.kafka.common.security.scram.ScramLoginModule required;");
    settings.put(
        "authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
    settings.put("super.users", "User:ANONYMOUS");
    settings.put("log.dirs", directory.resolve("data").toString());
    settings.put("auto.create.topics.enable", "false");
    settings.put("num.partitions", "4");
    settings.put("offsets.topic.replication.factor", "1");
    settings.put("offsets.topic.num.partitions", "1");
    settings.put("transaction.state.log.replication.factor", "1");
    settings.put("transaction.state.log.min.isr", "1");
    settings.put("transaction.state.log.num.partitions", "1");
    settings.put("group.initial.rebalance.delay.ms", "0");
    // After a kill it may come back only when its former self counts as gone.
    settings.put("broker.session.timeout.ms", "2000");
    settings.put("broker.heartbeat.interval.ms", "300");
    settings.put("log.cleaner.dedupe.buffer.size", "2097152"); // its default does not fit the heap
    return settings;
  }

  private static boolean isOfTls(String setting) {
    return setting.startsWith("listener.name.tls.");
  }

  private static Map<String, String> listeners(List<Integer> ports, boolean tls) {
    String plain = "PLAIN://127.0.0.1:%d,SASL://127.0.0.1:%d".formatted(ports.get(0), ports.get(1));
    String controller = ",CONTROLLER://127.0.0.1:" + ports.get(2);
    return Map.of(
        "listeners", plain + controller + (tls ? ",TLS://127.0.0.1:" + ports.get(3) : ""),
        "advertised.listeners", plain + (tls ? ",TLS://localhost:" + ports.get(3) : ""),
        "listener.security.protocol.map",
            "PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL");
  }

  private static String text(Map<String, String> settings) {
    StringBuilder text = new StringBuilder();
    settings.forEach((name, value) -> text.append(name).append('=').append(value).append('\n'));
    return text.toString();
  }

  private static String classPath() throws IOException {
    try (InputStream in = KafkaServer.class.getResourceAsStream("classpath")) {
      if (in == null) {
        throw new IllegalStateException("the broker's class path was not written by the build");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    }
  }

  /**
   * Below the range systems use for outgoing connections, so that no client's socket can take a
   * port while the broker is down.
   */
  static List<Integer> freePorts(int count) {
    return new SplittableRandom()
        .ints(1000, 15_000, 32_000)
        .distinct()
        .filter(KafkaServer::isFree)
        .limit(count)
        .boxed()
        .toList();
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException taken) {
      return false;
    }
  }

  private static void delete(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
