package dev.postrider.cli.config;

import dev.postrider.cli.settings.Masks;
import org.jspecify.annotations.Nullable;

/**
 * Where the database is. Immutable.
 *
 * @param url of JDBC's or of libpq's kind; null if none was given
 * @param directUrl for LISTEN, where the other one leads to a pooler
 */
public record DatabaseConfig(
    @Nullable String url,
    @Nullable String user,
    @Nullable String password,
    @Nullable String directUrl) {
  /** Without secrets. */
  @Override
  public String toString() {
    return url == null ? "no database" : Masks.url(url);
  }
}
