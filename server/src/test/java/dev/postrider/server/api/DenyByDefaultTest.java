package dev.postrider.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.access.Permission;
import io.javalin.Javalin;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("OP-3")
class DenyByDefaultTest {
  private static final Endpoint OPEN =
      Endpoint.getPublic("/open")
          .about("test", "Open")
          .answers(List.class)
          .handledBy(call -> List.of());

  private static final RequestTurns TURNS = new RequestTurns(4, Runnable::run);

  private static EndpointRoutes routing(Endpoint... endpoints) {
    return new EndpointRoutes(
        List.of(endpoints),
        (context, guard) -> new Caller(null, "here", false),
        new Bodies(1024, Duration.ofSeconds(5), 1, new Bodies.Memory(1024, 1024), TURNS),
        TURNS);
  }

  @Test
  void whatIsRegisteredWithoutAGuardIsAnsweredToNobody() throws Exception {
    Javalin javalin =
        Javalin.create(
            config -> {
              config.jetty.host = "127.0.0.1";
              config.jetty.port = 0;
              routing(OPEN).install(config);
              config.routes.get("/bare", context -> context.result("secret"));
            });
    javalin.start();
    try {
      assertThat(status(javalin.port(), "/open")).isEqualTo(200);
      assertThat(status(javalin.port(), "/bare")).isEqualTo(403);
    } finally {
      javalin.stop();
    }
  }

  private static int status(int port, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(10))
            .build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
  }

  @Test
  void anEndpointDeclaresAllOfItselfAndOnlyOnce() {
    assertThatThrownBy(() -> Endpoint.get("/x", Permission.READ).handledBy(call -> null))
        .hasMessageContaining("summary");
    assertThatThrownBy(
            () ->
                Endpoint.get("/x/{id}", Permission.READ)
                    .about("test", "Text")
                    .handledBy(call -> null))
        .hasMessageContaining("[id]");
    assertThatThrownBy(() -> Endpoint.getPublic("/x").about("test", "Text").handledBy(call -> null))
        .hasMessageContaining("does not say what it answers");
    assertThatThrownBy(() -> routing(OPEN, OPEN)).hasMessageContaining("declared twice");
  }
}
