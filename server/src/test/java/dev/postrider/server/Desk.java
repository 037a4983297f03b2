package dev.postrider.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.access.CreatedToken;
import dev.postrider.access.NewToken;
import dev.postrider.access.Role;
import dev.postrider.access.Tokens;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.JsonText;
import dev.postrider.testkit.TestPostgres;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A server on a real database and a real socket, with a token for each role. */
public final class Desk implements AutoCloseable {
  private static final AtomicInteger NUMBER = new AtomicInteger();

  /** Shared by all tests of the run; it ends with it. */
  private static final TestPostgres POSTGRES = TestPostgres.start();

  /** Nobody is that fast; tests of the rate limit have their own. */
  static final ServerConfig CONFIG =
      ServerConfig.DEFAULT.withPort(0).withLimits(Limits.DEFAULT.withRate(100_000, 100_000));

  public final TestPostgres postgres;
  public final Server server;
  public final Tokens tokens;
  public final String viewer;
  public final String operator;
  public final String admin;

  /** How often the server asked for a connection to the database. */
  public final AtomicInteger connections = new AtomicInteger();

  private volatile @Nullable Described described;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(10))
          .build();

  /** An answer: status, headers and JSON, if it was JSON. */
  public record Answer(HttpResponse<String> response) {
    public int status() {
      return response.statusCode();
    }

    public String text() {
      return response.body();
    }

    public JsonNode json() {
      return JsonText.read(response.body().getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    public String header(String name) {
      return response.headers().firstValue(name).orElse("");
    }
  }

  private final @Nullable HikariDataSource pool;

  private Desk(
      TestPostgres postgres, @Nullable HikariDataSource pool, UnaryOperator<Server.Builder> with) {
    this.pool = pool;
    this.postgres = postgres;
    this.tokens = new Tokens(postgres.dataSource(), Schema.DEFAULT);
    this.viewer = token(NewToken.of(name("viewer"), Role.VIEWER)).secret();
    this.operator = token(NewToken.of(name("operator"), Role.OPERATOR)).secret();
    this.admin = token(NewToken.of(name("admin"), Role.ADMIN)).secret();
    this.server =
        with.apply(
                Server.builder(pool == null ? counted(postgres.dataSource()) : pool).config(CONFIG))
            .start();
  }

  /** Counts what the server takes; without a pool it takes one for each call that needs any. */
  private DataSource counted(DataSource source) {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("getConnection")) {
                connections.incrementAndGet();
              }
              try {
                return method.invoke(source, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause() == null ? e : e.getCause();
              }
            });
  }

  public static Desk open() {
    return open(builder -> builder);
  }

  public static Desk open(UnaryOperator<Server.Builder> with) {
    return new Desk(another(), null, with);
  }

  private static TestPostgres another() {
    return POSTGRES.another(name("desk_").replace('-', '0'));
  }

  /** One with a pool, for a great many calls. */
  public static Desk pooled(UnaryOperator<Server.Builder> with) {
    return pooled(another(), with);
  }

  public static Desk pooled(TestPostgres postgres, UnaryOperator<Server.Builder> with) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(8);
    return new Desk(postgres, new HikariDataSource(config), with);
  }

  /** One on a database server that the caller may stop. */
  public static Desk on(TestPostgres own, UnaryOperator<Server.Builder> with) {
    return new Desk(own, null, with);
  }

  public static String name(String prefix) {
    return prefix + "-" + NUMBER.incrementAndGet();
  }

  public CreatedToken token(NewToken token) {
    try {
      return tokens.create("tests", token);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  public Answer get(@Nullable String token, String path) {
    return send(request(token, path).GET());
  }

  public Answer post(@Nullable String token, String path, String body) {
    return send(
        request(token, path)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body)));
  }

  public Answer call(@Nullable String token, String method, String path, String body) {
    HttpRequest.Builder request = request(token, path);
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    return send(
        request.method(
            method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body)));
  }

  public HttpRequest.Builder request(@Nullable String token, String path) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server.url() + path)).timeout(Duration.ofSeconds(30));
    return token == null ? request : request.header("Authorization", "Bearer " + token);
  }

  /** The server's own description, with which every answer is compared. */
  public Described described() {
    if (described == null) {
      described = new Described(JsonText.tree(server.description()));
    }
    return described;
  }

  public Answer send(HttpRequest.Builder request) {
    try {
      HttpResponse<String> response = http.send(request.build(), BodyHandlers.ofString());
      described().check(response);
      return new Answer(response);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Enqueues past the server; the arguments are those of the SQL function. */
  public UUID enqueue(String arguments) {
    return UUID.fromString(
        postgres
            .column("select id from postrider.enqueue(" + arguments + ", payload => '{\"n\": 1}')")
            .get(0));
  }

  /** Claims and settles all that is due: 1 delivered, 3 dead, 4 dead and blocking its key. */
  public void carry(int outcome, String code) {
    while (!postgres.column(CARRY.formatted(outcome, code)).isEmpty()) {
      if (outcome == 4) {
        return;
      }
    }
  }

  private static final String CARRY =
      """
      with claimed as materialized (
        select * from postrider.claim(postrider.worker_id('courier'), 1000, 1000000000, 60000,
          array(select id from postrider.route))),
      settled as materialized (
        select array_agg(id) as ids,
               postrider.settle(postrider.worker_id('courier'),
                 array_agg(id), array_agg(token), array_agg(%d::smallint), null, null,
                 array_agg('%s'::text), array_agg('it broke'::text))
          from claimed having count(*) > 0)
      select unnest(ids) from settled
      """;

  @Override
  public void close() {
    server.close();
    if (pool != null) {
      pool.close();
    }
  }
}
