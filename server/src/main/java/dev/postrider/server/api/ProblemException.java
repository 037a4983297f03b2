package dev.postrider.server.api;

import dev.postrider.message.PostriderException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Ends a call with a problem. */
public final class ProblemException extends PostriderException {
  private static final long serialVersionUID = 1L;
  private final transient Problem problem;
  private final @Nullable Duration retryAfter;

  public ProblemException(Problem problem) {
    this(problem, null);
  }

  /** With the time after which trying again makes sense. */
  public ProblemException(Problem problem, @Nullable Duration retryAfter) {
    super(problem.detail());
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  public Problem problem() {
    return problem;
  }

  public @Nullable Duration retryAfter() {
    return retryAfter;
  }
}
