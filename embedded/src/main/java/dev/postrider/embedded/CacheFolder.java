package dev.postrider.embedded;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where the user's programs keep what they can make again. */
final class CacheFolder {
  private CacheFolder() {}

  static Path ofThisUser() {
    return of(System.getenv(), System.getProperty("user.home"), System.getProperty("os.name"));
  }

  /** By the rules of each system; {@code XDG_CACHE_HOME} counts on all of them. */
  static Path of(Map<String, String> environment, String home, String system) {
    return caches(environment, home, system).resolve("postrider");
  }

  private static Path caches(Map<String, String> environment, String home, String system) {
    @Nullable Path wanted = absolute(environment.get("XDG_CACHE_HOME"));
    @Nullable Path local = absolute(environment.get("LOCALAPPDATA"));
    if (wanted != null) {
      return wanted;
    } else if (system.startsWith("Windows") && local != null) {
      return local;
    }
    @Nullable Path own = absolute(home);
    if (own == null) {
      throw new IllegalStateException(
          "no home folder is known to keep PostgreSQL's programs in;"
              + " set XDG_CACHE_HOME to an absolute path of your own");
    }
    return system.startsWith("Mac") ? own.resolve("Library/Caches") : own.resolve(".cache");
  }

  private static @Nullable Path absolute(@Nullable String path) {
    return path != null && Path.of(path).isAbsolute() ? Path.of(path) : null;
  }
}
