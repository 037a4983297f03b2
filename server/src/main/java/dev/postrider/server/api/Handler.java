package dev.postrider.server.api;

import org.jspecify.annotations.Nullable;

/** Answers a call that was found allowed and well-formed. Called from many threads at once. */
@FunctionalInterface
public interface Handler {
  /** Returns what goes out as JSON, or null if it wrote, or will write, the answer itself. */
  @Nullable Object handle(Call call) throws Exception;
}
