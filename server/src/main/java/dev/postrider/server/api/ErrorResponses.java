package dev.postrider.server.api;

import dev.postrider.error.DatabaseError;
import dev.postrider.error.RefusedException;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.lease.StoreException;
import dev.postrider.message.InvalidMessageException;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers with a problem for whatever was thrown. What callers cannot mend is only logged. */
final class ErrorResponses {
  private static final Logger log = LoggerFactory.getLogger(ErrorResponses.class);
  private static final String UNIQUE_VIOLATION = "23505";

  /** The class of values that are not what they should be. */
  private static final String DATA_EXCEPTION = "22";

  /** Too deep for the database's stack. */
  private static final String TOO_COMPLEX = "54001";

  private static final Duration SOON = Duration.ofSeconds(1);

  private ErrorResponses() {}

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
    } else if (failure instanceof StoreException
        && failure.getCause() instanceof SQLException sql) {
      return database(sql);
    } else if (failure instanceof SQLException sql) {
      return database(sql);
    } else if (failure instanceof RejectedExecutionException) {
      return new ProblemException(Problem.overloaded(), SOON);
    } else if (failure instanceof HttpResponseException http) {
      return Problem.of(http.getStatus(), "http", "Not possible", text(http)).toException();
    }
    return unexpected(failure);
  }

  /** One line, whatever callers put into it. Of other failures the class and stack say enough. */
  private static LogLine line(String event, Exception failure) {
    LogLine line = LogLine.of(event);
    return failure instanceof SQLException sql
        ? line.put("state", sql.getSQLState()).put("error", Silenced.text(sql))
        : line;
  }

  private static String text(Exception failure) {
    return String.valueOf(failure.getMessage());
  }

  private static ProblemException database(SQLException failure) {
    String state = String.valueOf(failure.getSQLState());
    if (state.equals(UNIQUE_VIOLATION)) {
      return Problem.conflict("a message with this id exists already").toException();
    } else if (state.startsWith(DATA_EXCEPTION) || state.equals(TOO_COMPLEX)) {
      log.info("{}", line("server_value_refused", failure));
      return Problem.of(
              422, "refused", "Refused", "the database refuses a value: " + Silenced.text(failure))
          .toException();
    } else if (DatabaseError.of(failure) == DatabaseError.FATAL) {
      return unexpected(failure);
    }
    log.warn("{}", line("server_database_failed", failure));
    return new ProblemException(
        Problem.of(
            503,
            "database-unavailable",
            "Database unavailable",
            "the database did not answer in time; try again, or ask for less"),
        SOON);
  }

  private static ProblemException unexpected(Exception failure) {
    UUID mark = UUID.randomUUID();
    log.error("{}", line("server_failed", failure).put("mark", mark), Silenced.of(failure));
    return Problem.of(
            500,
            "internal",
            "Internal error",
            "an unexpected failure; the server's log has it as " + mark)
        .toException();
  }
}
