package dev.postrider.cli.command;

import dev.postrider.cli.config.DatabaseConfig;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** Makes data sources. Every call has a time limit unless the URL sets another. */
final class Connections {
  private static final int CONNECT_SECONDS = 10;

  private Connections() {}

  /**
   * Takes a URL of JDBC's or of libpq's kind. Connects to nothing yet.
   *
   * @param silence how long the server may take to answer a statement
   */
  static DataSource to(String url, DatabaseConfig config, String application, Duration silence) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    if (url.startsWith("jdbc:")) {
      dataSource.setUrl(url);
    } else {
      fromUri(dataSource, url);
    }
    if (config.user() != null) {
      dataSource.setUser(config.user());
    }
    if (config.password() != null) {
      dataSource.setPassword(config.password());
    }
    if (!url.contains("connectTimeout")) {
      dataSource.setConnectTimeout(CONNECT_SECONDS);
      dataSource.setLoginTimeout(CONNECT_SECONDS);
    }
    if (!url.contains("socketTimeout")) {
      dataSource.setSocketTimeout((int) silence.toSeconds());
    }
    dataSource.setTcpKeepAlive(true);
    dataSource.setApplicationName(application);
    return dataSource;
  }

  /** {@code postgresql://user:password@host:port/database?parameters}. */
  private static void fromUri(PGSimpleDataSource dataSource, String url) {
    URI uri = parsed(url);
    String host = uri.getHost() == null ? "localhost" : uri.getHost();
    String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
    String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
    @Nullable String path = uri.getRawPath();
    dataSource.setUrl(
        "jdbc:postgresql://" + host + port + (path == null || path.isEmpty() ? "/" : path) + query);
    @Nullable String info = uri.getRawUserInfo();
    if (info != null) {
      int colon = info.indexOf(':');
      dataSource.setUser(decoded(colon < 0 ? info : info.substring(0, colon)));
      if (colon >= 0) {
        dataSource.setPassword(decoded(info.substring(colon + 1)));
      }
    }
  }

  private static URI parsed(String url) {
    try {
      return URI.create(url);
    } catch (IllegalArgumentException e) {
      // Its own message would show the whole URL, password included.
      throw new Failure(
          ExitCode.USAGE,
          "the database URL cannot be read; letters such as @ : / in a password are written %40"
              + " %3A %2F");
    }
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }
}
