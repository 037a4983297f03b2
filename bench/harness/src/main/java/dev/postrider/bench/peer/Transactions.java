package dev.postrider.bench.peer;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/**
 * Gives a library the connection of the transaction that its thread is in, and keeps the library
 * from ending it: for those that know nothing of their caller's transaction. Outside of one the
 * library gets connections of the pool. Thread-safe.
 */
public final class Transactions {
  private static final Set<String> NOT_FOR_THE_LIBRARY =
      Set.of("close", "commit", "rollback", "setAutoCommit");

  private final DataSource pool;
  private final Map<Thread, Connection> bound = new ConcurrentHashMap<>();

  /** The writes of a transaction. */
  public interface Work {
    void run(Connection connection) throws Exception;
  }

  public Transactions(DataSource pool) {
    this.pool = pool;
  }

  /** Runs the work in a transaction of its own and commits it. */
  public void run(Work work) throws Exception {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      bound.put(Thread.currentThread(), shielded(connection));
      try {
        work.run(connection);
        connection.commit();
      } finally {
        bound.remove(Thread.currentThread()); // the pool rolls back what was not committed
      }
    }
  }

  /** For the library. */
  public DataSource dataSource() {
    return proxy(
        DataSource.class,
        (proxy, method, arguments) -> {
          Connection mine = bound.get(Thread.currentThread());
          return mine != null && method.getName().equals("getConnection")
              ? mine
              : method.invoke(pool, arguments);
        });
  }

  private static Connection shielded(Connection connection) {
    return proxy(
        Connection.class,
        (proxy, method, arguments) ->
            NOT_FOR_THE_LIBRARY.contains(method.getName())
                ? null
                : method.invoke(connection, arguments));
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            Transactions.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return handler.invoke(proxy, method, arguments);
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            }));
  }
}
