package dev.postrider.server.api;

import dev.postrider.message.InvalidMessageException;
import dev.postrider.store.DatabaseError;
import dev.postrider.store.RefusedException;
import dev.postrider.store.StoreException;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers with a problem for whatever was thrown. What callers cannot mend is only logged. */
final class Failures {
  private static final Logger log = LoggerFactory.getLogger(Failures.class);
  private static final String UNIQUE_VIOLATION = "23505";
  private static final Duration SOON = Duration.ofSeconds(1);

  private Failures() {}

  static void answer(Exception failure, Context context) {
    ProblemException known = known(failure);
    if (known.problem().status() == 401) {
      context.header("WWW-Authenticate", "Bearer realm=\"postrider\"");
    }
    @Nullable Duration wait = known.retryAfter();
    if (wait != null) {
      context.header("Retry-After", Long.toString(Math.max(1, wait.plusMillis(999).toSeconds())));
    }
    write(context, known.problem());
  }

  static void write(Context context, Problem problem) {
    context.status(problem.status());
    context.contentType(Problem.MEDIA_TYPE);
    context.result(JsonText.bytes(problem));
  }

  private static ProblemException known(Exception failure) {
    if (failure instanceof ProblemException problem) {
      return problem;
    } else if (failure instanceof InvalidMessageException invalid) {
      return Problem.invalid(invalid.field(), text(invalid)).toException();
    } else if (failure instanceof RefusedException refused) {
      return Problem.of(422, "refused", "Refused", text(refused)).toException();
    } else if (failure instanceof StoreException store) {
      return database(store.error(), store);
    } else if (failure instanceof SQLException sql) {
      return UNIQUE_VIOLATION.equals(sql.getSQLState())
          ? Problem.conflict("a message with this id exists already").toException()
          : database(DatabaseError.of(sql), sql);
    } else if (failure instanceof HttpResponseException http) {
      return Problem.of(http.getStatus(), "http", "Not possible", text(http)).toException();
    }
    return unexpected(failure);
  }

  private static String text(Exception failure) {
    return String.valueOf(failure.getMessage());
  }

  private static ProblemException database(DatabaseError error, Exception failure) {
    if (error == DatabaseError.FATAL) {
      return unexpected(failure);
    }
    log.warn("database: {}", failure.getMessage());
    return new ProblemException(
        Problem.of(
            503,
            "database-unavailable",
            "Database unavailable",
            "the database did not answer in time; try again"),
        SOON);
  }

  private static ProblemException unexpected(Exception failure) {
    UUID mark = UUID.randomUUID();
    log.error("unexpected failure {}", mark, failure);
    return Problem.of(
            500,
            "internal",
            "Internal error",
            "an unexpected failure; the server's log has it as " + mark)
        .toException();
  }
}
