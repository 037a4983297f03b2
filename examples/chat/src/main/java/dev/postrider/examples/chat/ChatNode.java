package dev.postrider.examples.chat;

import dev.postrider.examples.stage.ChildProcess;
import dev.postrider.examples.stage.Stage;
import dev.postrider.relay.MessageCheck;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RouteOptions;
import dev.postrider.schema.Schema;
import dev.postrider.server.Metrics;
import dev.postrider.server.Server;
import dev.postrider.server.ServerConfig;
import dev.postrider.server.stream.StreamConfig;
import dev.postrider.stream.StreamDestination;
import javax.sql.DataSource;

/**
 * The two parts of the chat, each in as many processes as you like: nodes, which browsers talk to,
 * and relays, which bring events to all nodes. Holds no state.
 */
final class ChatNode {
  private ChatNode() {}

  /** A node in a process of its own. Arguments: JDBC URL, port. */
  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[1]);
    try (Server node = start(Stage.dataSource(arguments[0]), port, new Metrics())) {
      ChildProcess.untilParentEnds();
    }
  }

  static Server start(DataSource dataSource, int port, Metrics metrics) {
    return Server.builder(dataSource)
        .config(ServerConfig.DEFAULT.withPort(port))
        .streams(StreamConfig.DEFAULT)
        .metrics(metrics)
        .feature(new ChatFeature(new ChatRooms(dataSource)))
        .start();
  }

  /** A message that is dead is skipped: it must not silence its room. */
  static Relay relay(DataSource dataSource, MessageCheck moderation, Metrics metrics) {
    return Relay.builder(dataSource)
        .listener(metrics.relay())
        .destination("stream", new StreamDestination(dataSource, Schema.DEFAULT))
        .route(ChatRooms.NAMESPACE, "*", "stream", RouteOptions.DEFAULT.withCheck(moderation))
        .build();
  }
}
