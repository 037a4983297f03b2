package dev.postrider.server.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.server.Desk;
import java.lang.reflect.Proxy;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that come while the server cannot follow the log: its connection for that is away. */
@Timeout(60)
@Tag("CH-4")
class StreamStartTest {
  private static final String PATH = "/v1/streams/events";
  private static final int CALLS = 40;

  /** As long as one call waits for a start. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private static DataSource direct(Callable<Connection> connect) {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> connect.call());
  }

  private static String token(Desk desk) {
    return desk.token(NewToken.of("listener", Permission.STREAM)).secret();
  }

  @Test
  void nobodyWaitsForAStartThatHasFailed() {
    AtomicInteger tries = new AtomicInteger();
    DataSource away =
        direct(
            () -> {
              tries.incrementAndGet();
              throw new SQLException("away", "08001");
            });
    try (Desk desk = Desk.open(server -> server.streams(Station.CONFIG).direct(away))) {
      String token = token(desk);
      await().until(() -> tries.get() > 4); // the tail and LISTEN have each failed
      long began = System.nanoTime();
      for (int i = 0; i < CALLS; i++) {
        Desk.Answer refused = desk.get(token, PATH);
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.text()).contains("streams-unavailable");
        assertThat(refused.header("Retry-After")).isEqualTo("5");
      }
      assertThat(Duration.ofNanos(System.nanoTime() - began))
          .isLessThan(PATIENCE.multipliedBy(CALLS / 4));
    }
  }

  /** A host that is silent lets the start neither fail nor succeed. */
  @Test
  void fewWaitForAStart() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    DataSource silent =
        direct(
            () -> {
              boolean unused = end.await(20, TimeUnit.SECONDS);
              throw new SQLException("away", "08001");
            });
    HttpClient http = HttpClient.newHttpClient();
    try (Desk desk = Desk.open(server -> server.streams(Station.CONFIG).direct(silent))) {
      String token = token(desk);
      List<CompletableFuture<HttpResponse<String>>> calls = new ArrayList<>();
      AtomicInteger prompt = new AtomicInteger();
      for (int i = 0; i < CALLS; i++) {
        long began = System.nanoTime();
        calls.add(
            http.sendAsync(desk.request(token, PATH).build(), BodyHandlers.ofString())
                .whenComplete(
                    (answer, failure) -> {
                      if (System.nanoTime() - began < PATIENCE.toNanos()) {
                        prompt.incrementAndGet();
                      }
                    }));
      }
      for (CompletableFuture<HttpResponse<String>> call : calls) {
        assertThat(call.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
      }
      assertThat(prompt.get()).isGreaterThanOrEqualTo(CALLS / 2);
      end.countDown();
    }
  }
}
