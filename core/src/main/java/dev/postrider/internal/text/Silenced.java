package dev.postrider.internal.text;

import dev.postrider.error.DatabaseError;
import dev.postrider.message.PostriderException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A failure as logs may show it: the classes and stacks of a throwable and its causes, without
 * their messages. Those may quote a payload, or hold line breaks that forge a line. Immutable.
 */
public final class Silenced extends Exception {
  private static final long serialVersionUID = 1L;

  /** Longer chains are cut; one may even be a ring. */
  private static final int CAUSES_MAX = 10;

  private Silenced(Throwable thrown, @Nullable Silenced cause) {
    super(thrown.getClass().getName(), cause, false, true);
    setStackTrace(thrown.getStackTrace());
  }

  /** The same failure without a word of its messages. */
  public static Silenced of(Throwable thrown) {
    return of(thrown, CAUSES_MAX);
  }

  /**
   * What a log line may say about it. Of a database error the first line, and the advice that was
   * added to it: the server's detail quotes rows. Of an unexpected failure only the class.
   */
  public static String text(Throwable thrown) {
    @Nullable Throwable cause = thrown;
    for (int i = 0; i < CAUSES_MAX && cause != null; i++) {
      if (cause instanceof SQLException sql) {
        return DatabaseError.text(sql);
      }
      cause = cause.getCause();
    }
    boolean expected =
        thrown instanceof PostriderException
            || thrown instanceof IOException
            || thrown instanceof UncheckedIOException;
    return expected
        ? String.valueOf(thrown.getMessage()).lines().findFirst().orElse("")
        : thrown.getClass().getName();
  }

  private static Silenced of(Throwable thrown, int causes) {
    @Nullable Throwable cause = thrown.getCause();
    return new Silenced(thrown, cause == null || causes == 0 ? null : of(cause, causes - 1));
  }
}
