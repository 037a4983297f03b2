package dev.postrider.spring.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.access.Tokens;
import dev.postrider.server.Server;
import dev.postrider.server.ServerConfig;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** The console of a real server in an application, behind its Spring Security. */
@Tag("OP-5")
class MountedConsoleTest {
  private static final TestPostgres DATABASE = TestPostgres.start();
  private static Server server;
  private static ConfigurableApplicationContext app;

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    SecurityFilterChain security(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(
              requests ->
                  requests
                      .requestMatchers("/open/**")
                      .permitAll()
                      .requestMatchers("/postrider/**")
                      .hasRole("OPERATOR")
                      .anyRequest()
                      .authenticated())
          .csrf(csrf -> csrf.ignoringRequestMatchers("/postrider/**", "/open/**"))
          .httpBasic(Customizer.withDefaults())
          .build();
    }
  }

  @BeforeAll
  static void start() throws Exception {
    server =
        Server.builder(DATABASE.dataSource()).config(ServerConfig.DEFAULT.withPort(0)).start();
    app = shop("/postrider", "OPERATOR");
  }

  @AfterAll
  static void stop() {
    app.close();
    server.close();
  }

  private static ConfigurableApplicationContext shop(String path, String role) throws Exception {
    String secret =
        new Tokens(DATABASE.dataSource(), Schema.DEFAULT)
            .create("test", NewToken.of("shop" + System.nanoTime(), Role.OPERATOR))
            .secret();
    return new SpringApplicationBuilder(Shop.class)
        .web(WebApplicationType.SERVLET)
        .properties(
            "server.port=0",
            "spring.datasource.url=" + DATABASE.jdbcUrl(),
            "spring.security.user.name=ann",
            "spring.security.user.password=secret",
            "spring.security.user.roles=" + role,
            "postrider.console.url=" + server.url(),
            "postrider.console.token=" + secret,
            "postrider.console.path=" + path)
        .run();
  }

  private static HttpResponse<String> call(
      ConfigurableApplicationContext app, String method, String path, String... headers)
      throws Exception {
    String port = app.getEnvironment().getProperty("local.server.port");
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HttpClient.newHttpClient()
        .send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  private static String login(String password) {
    byte[] text = ("ann:" + password).getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(text);
  }

  @Test
  void theApplicationsSecurityRefusesStrangers() throws Exception {
    assertThat(call(app, "GET", "/postrider/v1/session").statusCode()).isEqualTo(401);
    assertThat(call(app, "GET", "/postrider/console/").statusCode()).isEqualTo(401);
    assertThat(
            call(app, "GET", "/postrider/v1/session", "Authorization", login("guess"))
                .statusCode())
        .isEqualTo(401);
    try (var other = shop("/postrider", "CUSTOMER")) {
      assertThat(
              call(other, "GET", "/postrider/v1/session", "Authorization", login("secret"))
                  .statusCode())
          .isEqualTo(403);
    }
  }

  @Test
  void whoIsPermittedUsesTheConsoleAndTheApi() throws Exception {
    String[] ann = {"Authorization", login("secret")};
    HttpResponse<String> page = call(app, "GET", "/postrider/console/", ann);
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.body()).contains("<script");
    assertThat(page.headers().firstValue("Content-Security-Policy")).isPresent();
    HttpResponse<String> session = call(app, "GET", "/postrider/v1/session", ann);
    assertThat(session.statusCode()).isEqualTo(200);
    assertThat(session.body()).contains("\"operator\"");
    assertThat(session.headers().firstValue("Set-Cookie")).isEmpty();
    HttpResponse<String> start = call(app, "GET", "/postrider", ann);
    assertThat(start.statusCode()).isEqualTo(302);
    assertThat(start.headers().firstValue("Location").orElse("")).endsWith("/postrider/console/");
  }

  /** Browsers send the login by themselves, also for a page of another site. */
  @Test
  void aForgedRequestIsRefused() throws Exception {
    String path = "/postrider/v1/session";
    assertThat(call(app, "DELETE", path, "Authorization", login("secret")).statusCode())
        .isEqualTo(403);
    assertThat(
            call(
                    app,
                    "DELETE",
                    path,
                    "Authorization",
                    login("secret"),
                    "X-Postrider-Console",
                    "1")
                .statusCode())
        .isEqualTo(200);
  }

  /** The application forgot to protect the path. */
  @Test
  void withoutANameNobodyPasses() throws Exception {
    try (var open = shop("/open", "OPERATOR")) {
      assertThat(call(open, "GET", "/open/v1/session").statusCode()).isEqualTo(401);
    }
  }
}
