package dev.postrider.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** The folder, the ports and the environment of one broker. Immutable. */
record RabbitHome(Path folder, int port, int tlsPort, Map<String, String> environment) {
  /** Writes the files of a new broker into a new temporary folder. */
  static RabbitHome create(Map<String, String> settings) {
    List<Integer> ports = freePorts(4);
    int port = ports.get(0);
    int tlsPort = ports.get(1);
    try {
      Path folder = Files.createTempDirectory("postrider-rabbitmq");
      Files.createDirectories(folder.resolve("data"));
      Files.createDirectories(folder.resolve("log"));
      Files.writeString(folder.resolve("env.conf"), "");
      Files.writeString(folder.resolve("plugins"), "[].\n");
      Files.writeString(folder.resolve("rabbitmq.conf"), configuration(settings, tlsPort));
      Map<String, String> environment =
          Map.ofEntries(
              Map.entry("HOME", folder.toString()),
              Map.entry("LANG", "C.UTF-8"),
              Map.entry("RABBITMQ_NODENAME", "postrider" + port + "@localhost"),
              Map.entry("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1"),
              Map.entry("RABBITMQ_NODE_PORT", Integer.toString(port)),
              Map.entry("RABBITMQ_DIST_PORT", Integer.toString(ports.get(2))),
              Map.entry("ERL_CRASH_DUMP", folder.resolve("erl_crash.dump").toString()),
              Map.entry("ERL_EPMD_PORT", Integer.toString(ports.get(3))),
              Map.entry("ERL_EPMD_ADDRESS", "127.0.0.1"),
              Map.entry("RABBITMQ_MNESIA_BASE", folder.resolve("data").toString()),
              Map.entry("RABBITMQ_LOG_BASE", folder.resolve("log").toString()),
              Map.entry("RABBITMQ_CONFIG_FILE", folder.resolve("rabbitmq.conf").toString()),
              Map.entry("RABBITMQ_CONF_ENV_FILE", folder.resolve("env.conf").toString()),
              Map.entry("RABBITMQ_ENABLED_PLUGINS_FILE", folder.resolve("plugins").toString()));
      return new RabbitHome(folder, port, tlsPort, environment);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String configuration(Map<String, String> settings, int tlsPort) {
    StringBuilder text = new StringBuilder("log.console = false\n");
    settings.forEach(
        (name, value) ->
            text.append(name)
                .append(" = ")
                .append(value.replace("${tlsPort}", Integer.toString(tlsPort)))
                .append('\n'));
    return text.toString();
  }

  /** Where the broker's output goes. */
  Path console() {
    return folder.resolve("console.log");
  }

  String log() {
    try {
      return Files.exists(console()) ? Files.readString(console()) : "(no output)";
    } catch (IOException e) {
      return e.toString();
    }
  }

  void delete() {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Below the range for outgoing connections, so that none is taken during a restart. */
  private static List<Integer> freePorts(int count) {
    return new SplittableRandom()
        .ints(1000, 15_000, 32_000)
        .distinct()
        .filter(RabbitHome::isFree)
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
}
