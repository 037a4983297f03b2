package dev.postrider.server.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Pages of lists: a limit, and where to go on. Never a total, which would need counting all. */
public final class Paging {
  public static final int DEFAULT = 50;
  public static final int MAX = 1000;

  public static final Field LIMIT =
      Field.of("limit", Kind.INTEGER, "Items of a page, " + DEFAULT + " if not given")
          .between(1, MAX);

  private Paging() {}

  public static int limit(Values query) {
    return query.integer("limit", DEFAULT);
  }

  /** What the page before answered as next. */
  public static Field cursor(Kind kind) {
    return Field.of("cursor", kind, "The page before said next: this");
  }

  /** A page, without next if it is the last. */
  public static <T, N> Page<T, N> page(List<T> items, @Nullable N next) {
    return new Page<>(items, next);
  }
}
