package dev.postrider.spring;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * Connections outside the application's pool, to the same database and with the same login. A relay
 * keeps its connections, so they should not be the pool's. The pool is asked for its URL and login
 * at each connect, so a password that changed is used. Thread-safe if the pool is.
 */
final class RelayConnections extends AbstractDataSource {
  /** What HikariCP, Tomcat's pool and DBCP call the statements for a new connection. */
  private static final List<String> INIT_SQL =
      List.of("connectionInitSql", "initSQL", "connectionInitSqls");

  private final DataSource pool;

  private RelayConnections(DataSource pool) {
    this.pool = pool;
  }

  /**
   * @throws RuntimeException if the pool does not tell where its connections go
   */
  static DataSource beside(DataSource pool) {
    RelayConnections connections = new RelayConnections(behindProxies(pool));
    connections.unpooled();
    return connections;
  }

  private static DataSource behindProxies(DataSource dataSource) {
    DataSource found = dataSource;
    while (found instanceof LazyConnectionDataSourceProxy
        || found instanceof TransactionAwareDataSourceProxy) {
      found = ((DelegatingDataSource) found).getTargetDataSource();
    }
    return Objects.requireNonNull(found, "a proxy without a DataSource");
  }

  @Override
  public Connection getConnection() throws SQLException {
    return initialized(unpooled().getConnection());
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    return initialized(unpooled().getConnection(user, password));
  }

  private DataSource unpooled() {
    BeanWrapper settings = PropertyAccessorFactory.forBeanPropertyAccess(pool);
    if (value(settings, "dataSource") instanceof DataSource inner) {
      return inner; // a pool around a DataSource that knows how to connect
    }
    SimpleDriverDataSource made =
        DataSourceBuilder.derivedFrom(pool).type(SimpleDriverDataSource.class).build();
    if (value(settings, "dataSourceProperties") instanceof Properties properties
        && !properties.isEmpty()) {
      made.setConnectionProperties(properties);
    }
    return made;
  }

  private Connection initialized(Connection connection) throws SQLException {
    BeanWrapper settings = PropertyAccessorFactory.forBeanPropertyAccess(pool);
    try (Statement statement = connection.createStatement()) {
      for (String name : INIT_SQL) {
        Object given = value(settings, name);
        for (Object sql : given instanceof Collection<?> many ? many : listOf(given)) {
          statement.execute(String.valueOf(sql));
        }
      }
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  private static List<Object> listOf(@Nullable Object value) {
    return value == null ? List.of() : List.of(value);
  }

  private static @Nullable Object value(BeanWrapper settings, String property) {
    return settings.isReadableProperty(property) ? settings.getPropertyValue(property) : null;
  }
}
