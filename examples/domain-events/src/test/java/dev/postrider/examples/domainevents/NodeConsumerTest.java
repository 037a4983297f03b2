package dev.postrider.examples.domainevents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.relay.Relay;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The same queue, read by another language. */
@Tag("HE-4")
@Tag("HE-5")
class NodeConsumerTest {
  private static final Logger log = LoggerFactory.getLogger(NodeConsumerTest.class);
  private static final Path SCRIPT = Path.of("node");
  private static final Path PLACE = Path.of("target", "node");

  @AutoClose private final Group group = new Group();

  /** What it printed; empty if it failed or is not there. */
  private static List<String> run(String... command) throws Exception {
    Path output = PLACE.resolve(command[0] + ".out");
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(PLACE.toFile())
              .redirectOutput(output.toFile())
              .redirectError(PLACE.resolve(command[0] + ".err").toFile())
              .start();
      boolean ended = process.waitFor(60, TimeUnit.SECONDS);
      process.destroyForcibly();
      return ended && process.exitValue() == 0 ? Files.readAllLines(output) : List.of();
    } catch (IOException notInstalled) {
      return List.of();
    }
  }

  /** Node, and its AMQP library, fetched once. */
  private static boolean nodeIsThere() throws Exception {
    Files.createDirectories(PLACE);
    for (String file : List.of("package.json", "consumer.js")) {
      Files.writeString(PLACE.resolve(file), Files.readString(SCRIPT.resolve(file)));
    }
    return !run("node", "--version").isEmpty()
        && (Files.exists(PLACE.resolve("node_modules/amqplib"))
            || !run("npm", "install", "--no-audit", "--no-fund", "--prefer-offline").isEmpty());
  }

  @Test
  void readsWhatTheRelayPublishes() throws Exception {
    UUID order = group.north.order("ann", "tea", "12.50");
    group.north.cancel(order);
    try (Relay relay = Events.relay(group.database.dataSource(), group.broker).start()) {
      group.untilCount(0, "select count(*) from postrider.queue");
    }
    if (!nodeIsThere()) {
      log.warn("not run with Node: it or amqplib is missing; read with Java instead");
      assertThat(group.take(Events.NOTIFICATIONS, 2)).hasSize(2);
      return;
    }
    List<String> ids = group.database.column("select id from postrider.message order by id");
    String line =
        "{\"id\":\"%s\",\"event\":\"order.%s\",\"aggregate\":\"%s\",\"group\":\"acme\","
            + "\"subsidiary\":\"north\",\"duplicate\":false}";
    assertThat(run("node", "consumer.js", group.server.uri(), Events.NOTIFICATIONS, "2"))
        .containsExactly(
            line.formatted(ids.get(0), "created", order),
            line.formatted(ids.get(1), "cancelled", order));
    assertThat(group.channel.messageCount(Events.NOTIFICATIONS)).isZero();
  }
}
