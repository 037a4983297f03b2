package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.relay.Relay;
import dev.postrider.testkit.TestPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the page about Kafka shows is what the code does. */
@Tag("OP-6")
class KafkaPageTest {
  private static final Path PAGE = Path.of("../docs/destinations/kafka.md");

  @Test
  void itsConfigurationCarriesAMessage() throws Exception {
    try (TestPostgres database = TestPostgres.start();
        Topic topic = Topic.create("shop.page", Map.of());
        Relay relay = KafkaPage.start(database.dataSource(), Broker.SERVER.address())) {
      try (Connection connection = database.dataSource().getConnection()) {
        connection.setAutoCommit(false);
        new Outbox()
            .enqueue(connection, NewMessage.to("shop", "page").key("k").json("{\"n\":1}").build());
        connection.commit();
      }
      await().atMost(Duration.ofSeconds(60)).until(() -> topic.records().size() == 1);
      assertThat(Topic.headers(topic.records().get(0))).containsEntry("ce_source", "/shop");
      assertThat(relay.status().running()).isTrue();
    }
  }

  @Test
  void itsConfigurationIsTheOneThatRuns() throws Exception {
    String source = Files.readString(Path.of("src/test/java/dev/postrider/kafka/KafkaPage.java"));
    Matcher snippet =
        Pattern.compile("    // snippet\n(.*?)    // end", Pattern.DOTALL).matcher(source);
    assertThat(snippet.find()).isTrue();
    assertThat(Files.readString(PAGE)).contains(snippet.group(1).stripTrailing().stripIndent());
  }

  @Test
  void itListsEveryCodeThatErrorsBecome() throws Exception {
    KafkaErrors errors = new KafkaErrors(new SecretMask(Map.of()), Set.of());
    String page = Files.readString(PAGE);
    for (Errors error : Errors.values()) {
      if (error != Errors.NONE) {
        SendFailure sendFailure = errors.of(error.exception(), Acknowledgements.Reach.NONE);
        String[] words = Sample.code(sendFailure.outcome()).split(" ", 2);
        assertThat(page).containsPattern("\\| " + words[0] + "[^|]*\\|[^|]*`" + words[1] + "`");
      }
    }
  }
}
