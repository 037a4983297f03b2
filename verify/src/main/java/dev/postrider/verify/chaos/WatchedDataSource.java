package dev.postrider.verify.chaos;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Wraps connections, so that a failpoint sees each commit and each call of a function. */
final class WatchedDataSource {
  private static final Pattern CALL = Pattern.compile("postrider\\.(\\w+)\\s*\\(");

  private final Failpoint failpoint;

  private WatchedDataSource(Failpoint failpoint) {
    this.failpoint = failpoint;
  }

  static DataSource of(DataSource dataSource, Failpoint failpoint) {
    return new WatchedDataSource(failpoint).wrap(DataSource.class, dataSource, null);
  }

  /**
   * An object whose results are wrapped, too.
   *
   * @param sql what a statement was prepared with
   */
  private <T> T wrap(Class<T> type, Object target, @Nullable String sql) {
    return type.cast(
        Proxy.newProxyInstance(
            WatchedDataSource.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> call(target, method, arguments, sql)));
  }

  private @Nullable Object call(
      Object target, Method method, Object @Nullable [] arguments, @Nullable String sql)
      throws Throwable {
    String text = arguments != null && arguments[0] instanceof String s ? s : sql;
    String point = point(method.getName(), text);
    if (point != null) {
      failpoint.reached("before " + point);
    }
    Object result = invoke(target, method, arguments);
    if (point != null) {
      failpoint.reached("after " + point);
    }
    if (result instanceof Statement || result instanceof Connection) {
      return wrap(method.getReturnType(), result, text);
    }
    return result;
  }

  private static @Nullable String point(String method, @Nullable String sql) {
    if (method.equals("commit")) {
      return method;
    }
    Matcher matcher = CALL.matcher(method.startsWith("execute") && sql != null ? sql : "");
    return matcher.find() ? matcher.group(1) : null;
  }

  private static @Nullable Object invoke(
      Object target, Method method, Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }
}
