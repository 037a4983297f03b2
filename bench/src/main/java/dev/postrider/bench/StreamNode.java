package dev.postrider.bench;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Tokens;
import dev.postrider.relay.Relay;
import dev.postrider.schema.Schema;
import dev.postrider.server.Limits;
import dev.postrider.server.Server;
import dev.postrider.server.ServerConfig;
import dev.postrider.server.stream.StreamConfig;
import dev.postrider.stream.StreamDestination;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import javax.sql.DataSource;

/**
 * The other process of the stream scenario: a server with streams and a relay. Prints its port and
 * a token, then for each line it reads the megabytes of heap that are in use after a collection.
 */
final class StreamNode {
  private StreamNode() {}

  public static void main(String[] arguments) throws Exception {
    DataSource dataSource = BenchDatabase.dataSource(arguments[0]);
    Tokens tokens = new Tokens(dataSource, Schema.DEFAULT);
    String token =
        tokens
            .create("bench", NewToken.of("bench", Permission.STREAM, Permission.PAYLOAD_READ))
            .secret();
    ServerConfig config =
        ServerConfig.DEFAULT
            .withPort(0)
            .withLimits(Limits.DEFAULT.withRate(1_000_000, 1_000_000).withConnections(4096, 4096));
    StreamConfig streams = StreamConfig.DEFAULT.withClients(2_000, 2_000, 2_000);
    try (Server server = Server.builder(dataSource).config(config).streams(streams).start();
        Relay relay =
            Relay.builder(dataSource)
                .destination("stream", new StreamDestination(dataSource, Schema.DEFAULT))
                .route("bench", "stream", "stream")
                .build()
                .start()) {
      System.out.println(server.port() + " " + token);
      BufferedReader asked =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (asked.readLine() != null && relay.status().running()) {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        System.out.println((runtime.totalMemory() - runtime.freeMemory()) >> 20);
      }
    }
  }
}
