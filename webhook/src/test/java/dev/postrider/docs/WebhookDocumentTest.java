package dev.postrider.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.relay.Relay;
import dev.postrider.testkit.TestPostgres;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The page about webhooks shows code that runs. */
@Tag("OP-6")
class WebhookDocumentTest {
  private static final String KEY = "whsec_" + Base64.getEncoder().encodeToString(new byte[32]);

  @Test
  void thePageShowsTheCodeThatRuns() throws Exception {
    Path example = Path.of("src/test/java/dev/postrider/docs/WebhookExample.java");
    String page = Files.readString(Path.of("../docs/destinations/webhook.md"));
    Matcher snippet =
        Pattern.compile("    // snippet\n(.*?)    // end", Pattern.DOTALL)
            .matcher(Files.readString(example));
    int snippets = 0;
    while (snippet.find()) {
      snippets++;
      assertThat(page).contains(snippet.group(1).stripTrailing().stripIndent());
    }
    assertThat(snippets).isEqualTo(2);
    assertThat(WebhookExample.customer(KEY, KEY, "token").toString())
        .contains("https://api.example.com");
  }

  @Test
  void theExampleDelivers() throws Exception {
    List<String> bodies = new CopyOnWriteArrayList<>();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.createContext(
        "/hooks",
        exchange -> {
          bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    server.start();
    String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/hooks";
    try (TestPostgres database = TestPostgres.start();
        Relay relay = WebhookExample.carry(database.dataSource(), url, KEY)) {
      try (Connection connection = database.dataSource().getConnection()) {
        connection.setAutoCommit(false);
        new Outbox().enqueue(connection, NewMessage.to("shop", "orders").json("{}").build());
        connection.commit();
      }
      await().atMost(Duration.ofSeconds(30)).until(() -> bodies.equals(List.of("{}")));
      assertThat(relay.status().running()).isTrue();
    } finally {
      server.stop(0);
    }
  }
}
