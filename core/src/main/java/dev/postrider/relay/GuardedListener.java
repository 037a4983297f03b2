package dev.postrider.relay;

import dev.postrider.observe.RelayListener;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps what a listener throws from the relay's threads, which would end with it. Thread-safe. */
final class GuardedListener {
  private static final Logger log = LoggerFactory.getLogger(GuardedListener.class);

  private GuardedListener() {}

  static RelayListener of(RelayListener listener) {
    if (listener == RelayListener.NONE || Proxy.isProxyClass(listener.getClass())) {
      return listener;
    }
    return (RelayListener)
        Proxy.newProxyInstance(
            RelayListener.class.getClassLoader(),
            new Class<?>[] {RelayListener.class},
            (proxy, method, arguments) -> {
              try {
                return method.invoke(listener, arguments);
              } catch (InvocationTargetException e) {
                if (method.getDeclaringClass() != RelayListener.class) {
                  throw e.getCause();
                }
                log.warn("event=outbox_listener_threw method={}", method.getName(), e.getCause());
                return null;
              }
            });
  }
}
