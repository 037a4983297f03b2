package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Health, metrics and the actuator endpoint, over HTTP. */
@Tag("OP-5")
class ActuatorTest {
  static class Mails {
    final List<String> handled = new CopyOnWriteArrayList<>();
    volatile boolean broken = true;

    @OutboxHandler(
        namespace = "shop",
        topic = "orders",
        name = "mails",
        terminal = IllegalStateException.class)
    void created(String payload) {
      if (broken) {
        throw new IllegalStateException("no mail server");
      }
      handled.add(payload);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    Mails mails() {
      return new Mails();
    }
  }

  private static ConfigurableApplicationContext start(TestPostgres database, String... more) {
    String[] all = new String[more.length + 5];
    System.arraycopy(more, 0, all, 5, more.length);
    all[0] = "management.endpoints.web.exposure.include=*";
    all[1] = "management.endpoint.health.show-details=always";
    all[2] = "management.health.rabbit.enabled=false";
    all[3] = "management.endpoint.health.probes.enabled=true";
    all[4] = "postrider.relay.backlog-interval=500ms";
    return Apps.web(database, Shop.class, all);
  }

  private static String call(ConfigurableApplicationContext app, String method, String path) {
    String port = app.getEnvironment().getProperty("local.server.port");
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/" + path))
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    try {
      return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void publish(ConfigurableApplicationContext app) {
    TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
    new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(
            status -> outbox.publish(NewMessage.to("shop", "orders").json("7").build()));
  }

  @Test
  void healthFollowsTheRelay() {
    TestPostgres database = Apps.database();
    try (var app = start(database)) {
      await()
          .untilAsserted(
              () ->
                  assertThat(call(app, "GET", "health/postrider"))
                      .contains("\"status\":\"UP\"")
                      .contains("\"mails\"")
                      .contains("\"breaker\":\"closed\""));
      database.execute("drop schema postrider cascade");
      await()
          .untilAsserted(
              () ->
                  assertThat(call(app, "GET", "health/postrider"))
                      .contains("\"status\":\"DOWN\"")
                      .contains("\"failure\""));
      assertThat(call(app, "GET", "health/readiness")).contains("\"UP\"");
    }
  }

  @Test
  void healthCanBePartOfReadiness() {
    TestPostgres database = Apps.database();
    try (var app =
        start(
            database,
            "management.endpoint.health.group.readiness.include=readinessState,postrider")) {
      assertThat(call(app, "GET", "health/readiness")).contains("\"postrider\"");
    }
  }

  @Test
  void metricsOfTheRelayAndTheBacklog() {
    TestPostgres database = Apps.database();
    try (var app = start(database)) {
      publish(app);
      await()
          .untilAsserted(
              () ->
                  assertThat(call(app, "GET", "metrics/outbox.dead.depth"))
                      .contains("\"value\":1.0"));
      assertThat(call(app, "GET", "metrics/outbox.claimed.messages")).contains("\"value\":1.0");
    }
  }

  @Test
  void aDeadLetterIsListedAndRequeued() {
    TestPostgres database = Apps.database();
    try (var app = start(database)) {
      publish(app);
      await()
          .untilAsserted(
              () ->
                  assertThat(call(app, "GET", "postrider/dead"))
                      .contains("\"code\":\"handler_refused\""));
      await()
          .untilAsserted(
              () ->
                  assertThat(call(app, "GET", "postrider"))
                      .contains("\"dead\":1")
                      .contains("shop/orders -> mails"));
      Mails mails = app.getBean(Mails.class);
      mails.broken = false;
      String id = database.column("select message_id from postrider.dead_letter").get(0);
      assertThat(call(app, "POST", "postrider/dead/" + id)).isEqualTo("{\"requeued\":true}");
      await().untilAsserted(() -> assertThat(mails.handled).containsExactly("7"));
      assertThat(call(app, "POST", "postrider/dead/" + id)).isEqualTo("{\"requeued\":false}");
      assertThat(database.column("select actor from postrider.audit")).contains("actuator");
    }
  }

  @Test
  void aProducerHasNoHealthOfARelay() {
    TestPostgres database = Apps.database();
    try (var app = start(database, "postrider.relay.enabled=false")) {
      assertThat(call(app, "GET", "health")).contains("\"UP\"").doesNotContain("postrider");
    }
  }

  /** The endpoint is not exposed unless the application says so. */
  @Test
  void nothingIsExposedByDefault() {
    TestPostgres database = Apps.database();
    try (var app = Apps.web(database, Shop.class)) {
      assertThat(app.getBeanNamesForType(OutboxEndpoint.class)).isEmpty();
      assertThat(call(app, "GET", "postrider")).contains("404");
    }
  }
}
