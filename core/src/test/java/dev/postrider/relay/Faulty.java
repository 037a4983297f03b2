package dev.postrider.relay;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Data sources whose connections do something else in place of one call. Thread-safe. */
final class Faulty {
  private Faulty() {}

  /** What to do instead. */
  interface Fault {
    void call(Connection connection) throws SQLException;
  }

  /** Where connections come from. */
  interface Source {
    Connection get() throws SQLException;
  }

  static DataSource on(DataSource real, String method, Fault fault) {
    return source(() -> connection(real.getConnection(), method, fault));
  }

  static DataSource source(Source source) {
    return (DataSource)
        Proxy.newProxyInstance(
            Faulty.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, called, arguments) -> source.get());
  }

  static Connection connection(Connection real, String method, Fault fault) {
    return (Connection)
        Proxy.newProxyInstance(
            Faulty.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, called, arguments) -> {
              if (called.getName().equals(method)) {
                fault.call(real);
                return null;
              }
              try {
                return called.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
