package dev.postrider.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.access.Tokens;
import dev.postrider.client.api.HealthApi;
import dev.postrider.client.api.MessagesApi;
import dev.postrider.client.api.OverviewApi;
import dev.postrider.client.api.TokensApi;
import dev.postrider.client.api.TopicsApi;
import dev.postrider.client.model.CreatedToken;
import dev.postrider.client.model.Enqueued;
import dev.postrider.client.model.Message;
import dev.postrider.client.model.MessageStatus;
import dev.postrider.client.model.MessageStatusPage;
import dev.postrider.client.model.PostMessagesBatchRequest;
import dev.postrider.client.model.PostMessagesBatchRequestMessagesInner;
import dev.postrider.client.model.PostMessagesRequest;
import dev.postrider.client.model.PostTokensRequest;
import dev.postrider.client.model.PostTopicsPauseRequest;
import dev.postrider.client.model.Status;
import dev.postrider.schema.Schema;
import dev.postrider.server.Server;
import dev.postrider.server.ServerConfig;
import dev.postrider.testkit.TestPostgres;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A client that a generator made from the OpenAPI document works, and its answers have types. */
@Tag("OP-3")
class GeneratedClientTest {
  private static TestPostgres postgres;
  private static Server server;
  private static ApiClient client;

  @BeforeAll
  static void start() throws Exception {
    postgres = TestPostgres.start();
    server = Server.builder(postgres.dataSource()).config(ServerConfig.DEFAULT.withPort(0)).start();
    String secret =
        new Tokens(postgres.dataSource(), Schema.DEFAULT)
            .create("tests", NewToken.of("client", Role.ADMIN).with(Permission.PAYLOAD_READ))
            .secret();
    client = client(secret);
  }

  @AfterAll
  static void stop() {
    server.close();
    postgres.close();
  }

  private static ApiClient client(String secret) {
    ApiClient made = new ApiClient();
    made.updateBaseUri(server.url());
    made.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + secret));
    return made;
  }

  @Test
  void enqueuesAndLooks() throws ApiException {
    MessagesApi messages = new MessagesApi(client);
    PostMessagesRequest order =
        new PostMessagesRequest()
            .namespace("shop")
            .topic("orders")
            .key("ann")
            .payload(Map.of("n", 1))
            .headers(Map.of("trace", "t"));
    Enqueued first = messages.postMessages(order, "once");
    assertThat(first.getDuplicate()).isFalse();
    assertThat(first.getSequence()).isEqualTo(1L);
    Enqueued again = messages.postMessages(order, "once");
    assertThat(again.getDuplicate()).isTrue();
    assertThat(again.getId()).isEqualTo(first.getId());

    Message message = messages.getMessagesId(first.getId());
    assertThat(message.getState()).isEqualTo(Message.StateEnum.PENDING);
    assertThat(message.getPayload()).isEqualTo(Map.of("n", 1));
    assertThat(message.getHeaders()).containsEntry("trace", "t");

    PostMessagesBatchRequestMessagesInner bill =
        new PostMessagesBatchRequestMessagesInner().namespace("shop").topic("bills").payload(2);
    assertThat(
            messages
                .postMessagesBatch(
                    new PostMessagesBatchRequest().addMessagesItem(bill).addMessagesItem(bill))
                .getMessages())
        .hasSize(2);
    MessageStatusPage page =
        messages.getMessages("shop", null, null, null, null, null, null, null, null, null, null, 2);
    MessageStatusPage rest =
        messages.getMessages(
            "shop", null, null, null, null, null, null, null, null, null, page.getNext(), 2);
    assertThat(page.getItems()).extracting(MessageStatus::getTopic).containsOnly("bills");
    assertThat(rest.getItems()).extracting(MessageStatus::getId).containsExactly(first.getId());

    Status status = new OverviewApi(client).getStatus();
    assertThat(status.getPending()).isPositive();
    assertThat(status.getTopics()).isNotEmpty();
  }

  @Test
  void operates() throws ApiException {
    TopicsApi topics = new TopicsApi(client);
    PostTopicsPauseRequest topic = new PostTopicsPauseRequest().namespace("shop").topic("slow");
    assertThat(topics.postTopicsPause(topic).getChanged()).isTrue();
    assertThat(topics.getTopicsPaused().getItems().get(0).getName()).isEqualTo("shop/slow");

    TokensApi tokens = new TokensApi(client);
    CreatedToken made =
        tokens.postTokens(
            new PostTokensRequest().name("ann").role(PostTokensRequest.RoleEnum.VIEWER));
    assertThat(
            new OverviewApi(client(made.getSecret()))
                .getAudit(null, 10, null, null, null, null)
                .getItems())
        .isNotEmpty();
    assertThat(tokens.deleteTokensId(made.getId()).getRevoked()).isEqualTo(made.getId());
    assertThatThrownBy(() -> new OverviewApi(client(made.getSecret())).getStatus())
        .isInstanceOfSatisfying(ApiException.class, e -> assertThat(e.getCode()).isEqualTo(401));
    assertThat(new HealthApi(client).getHealthLive().getStatus()).isNotNull();
  }

  @Test
  void saysWhatIsWrong() {
    PostMessagesRequest tooLong =
        new PostMessagesRequest().namespace("n".repeat(101)).topic("t").payload(1);
    assertThatThrownBy(() -> new MessagesApi(client).postMessages(tooLong, null))
        .isInstanceOfSatisfying(
            ApiException.class,
            e -> {
              assertThat(e.getCode()).isEqualTo(422);
              assertThat(e.getResponseBody()).contains("namespace must be text of 1 to 100");
            });
  }
}
