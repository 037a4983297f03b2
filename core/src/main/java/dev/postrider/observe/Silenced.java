package dev.postrider.observe;

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

  private static Silenced of(Throwable thrown, int causes) {
    @Nullable Throwable cause = thrown.getCause();
    return new Silenced(thrown, cause == null || causes == 0 ? null : of(cause, causes - 1));
  }
}
