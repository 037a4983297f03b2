package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** When the relay starts and stops. */
@Tag("OP-5")
class LifecycleTest {
  private static final String WAITING = "select count(*) from postrider.queue";

  @RestController
  static class Page {
    @GetMapping("/ping")
    String ping() {
      return "pong";
    }
  }

  /** Calls the application's own web server. */
  static class Caller {
    final List<String> answers = new CopyOnWriteArrayList<>();
    private final Environment environment;

    Caller(Environment environment) {
      this.environment = environment;
    }

    @OutboxHandler(namespace = "shop", topic = "calls")
    void call(String payload) throws Exception {
      String port = environment.getProperty("local.server.port");
      URI uri = URI.create("http://127.0.0.1:%s/ping".formatted(port));
      answers.add(
          HttpClient.newHttpClient()
              .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
              .body());
    }
  }

  /** Writes to the database after the application was told to stop. */
  static class Slow {
    static CountDownLatch begun;
    static CountDownLatch stopping;
    private final JdbcTemplate jdbc;

    Slow(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    @OutboxHandler(namespace = "shop", topic = "slow")
    void slow(String payload) throws InterruptedException {
      begun.countDown();
      assertThat(stopping.await(20, TimeUnit.SECONDS)).isTrue();
      jdbc.update("insert into done values (?)", payload);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    Page page() {
      return new Page();
    }

    @Bean
    Caller caller(Environment environment) {
      return new Caller(environment);
    }

    @Bean
    Slow slow(JdbcTemplate jdbc) {
      return new Slow(jdbc);
    }
  }

  @Test
  void theWebServerIsReadyWhenTheFirstMessageIsHandled() {
    TestPostgres database = Apps.database();
    database.execute("select postrider.enqueue('shop', 'calls', '1')");
    try (var app = Apps.web(database, Shop.class)) {
      Caller caller = app.getBean(Caller.class);
      await().until(() -> !caller.answers.isEmpty());
      assertThat(caller.answers).containsExactly("pong");
      await().untilAsserted(() -> assertThat(database.count(WAITING)).isZero());
    }
    assertThat(database.count("select count(*) from postrider.attempt")).isEqualTo(1);
  }

  @Test
  void whatIsInFlightAtShutdownIsFinishedWithTheDataSourceOpen() throws Exception {
    TestPostgres database = Apps.database();
    database.execute("create table done (payload text)");
    Slow.begun = new CountDownLatch(1);
    Slow.stopping = new CountDownLatch(1);
    var app = Apps.web(database, Shop.class);
    new TransactionTemplate(
            app.getBean(org.springframework.transaction.PlatformTransactionManager.class))
        .executeWithoutResult(
            status ->
                app.getBean(TransactionalOutbox.class)
                    .publish(NewMessage.to("shop", "slow").json("7").build()));
    assertThat(Slow.begun.await(20, TimeUnit.SECONDS)).isTrue();
    Thread stop = new Thread(app::close);
    stop.start();
    OutboxRelay relay = app.getBean(OutboxRelay.class);
    // The relay's lock is held while it stops, so waiting for a thread in close() is enough.
    await().until(() -> inClose(stop));
    Slow.stopping.countDown();
    stop.join(20_000);
    assertThat(stop.isAlive()).isFalse();
    assertThat(relay.isRunning()).isFalse();
    assertThat(database.column("select payload from done")).containsExactly("7");
    assertThat(database.count(WAITING)).isZero();
    assertThat(database.count("select count(*) from postrider.lease")).isZero();
  }

  private static boolean inClose(Thread thread) {
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getClassName().equals("dev.postrider.relay.Relay")
          && frame.getMethodName().equals("close")) {
        return true;
      }
    }
    return false;
  }
}
