package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.Permission;
import dev.postrider.server.Desk.Answer;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whatever an endpoint lets through, a value that PostgreSQL does not take is the caller's. */
@Tag("EN-4")
class RefusedByDatabaseTest {
  private final AtomicReference<Desk> desk = new AtomicReference<>();

  @Test
  void dataExceptionsAndTooDeepValuesAreUnprocessable() {
    Endpoint endpoint =
        Endpoint.post("/v1/test", Permission.READ)
            .about("test", "Runs a statement")
            .body(Field.text("sql", "What to run").mandatory())
            .answersList(String.class)
            .handledBy(this::run);
    try (Desk open = Desk.open(builder -> builder.feature(() -> List.of(endpoint)))) {
      desk.set(open);
      for (String sql :
          List.of(
              "select 1 / 0",
              "select '99999-01-01'::date + interval '9999999 years'",
              "select 'x'::int",
              "select repeat('[', 1000000)::json")) {
        Answer answer = open.post(open.viewer, "/v1/test", "{\"sql\": \"" + sql + "\"}");
        assertThat(answer.status()).as(sql + answer.text()).isEqualTo(422);
        assertThat(answer.text()).contains("urn:postrider:problem:refused", "the database refuses");
      }
      assertThat(open.post(open.viewer, "/v1/test", "{\"sql\": \"select nothing\"}").status())
          .isEqualTo(500);
    }
  }

  private @Nullable Object run(Call call) throws SQLException {
    try (Connection connection = desk.get().postgres.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(call.body().textOf("sql"));
      return List.of();
    }
  }
}
