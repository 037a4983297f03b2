package dev.postrider.spring;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.destination.MessageHandler;
import dev.postrider.message.JsonCodec;
import dev.postrider.message.PostriderException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.transaction.PlatformTransactionManager;

/** Finds the methods with {@link OutboxHandler}. Creates no beans. */
final class Handlers {
  private final ConfigurableListableBeanFactory beans;
  private final OutboxSchema database;
  private final Parts parts;

  /**
   * What handlers are made with.
   *
   * @param outbox the name of the outbox; empty for the one without a name
   * @param outboxes the names of all outboxes that have one
   * @param codec reads payloads that are objects; null if there is none
   * @param transactions for handlers with once = true
   * @param scope surrounds each call
   */
  record Parts(
      String outbox,
      Set<String> outboxes,
      @Nullable JsonCodec codec,
      ObjectProvider<PlatformTransactionManager> transactions,
      HandlerScope scope) {}

  /** A handler with its name and the messages it is for. */
  record Found(String name, OutboxHandler marked, MessageHandler handler) {
    HandlerDestination open() {
      return HandlerDestination.of(marked.threads(), handler);
    }

    DestinationOptions options() {
      try {
        return DestinationOptions.DEFAULT.withTimeout(
            DurationStyle.detectAndParse(marked.timeout()));
      } catch (IllegalArgumentException | PostriderException e) {
        throw new StartException(
            "The @OutboxHandler \"%s\" has the timeout \"%s\".".formatted(name, marked.timeout()),
            "Set it to a time from 1ms to 1h, such as 30s.",
            e);
      }
    }
  }

  Handlers(ConfigurableListableBeanFactory beans, OutboxSchema database, Parts parts) {
    this.beans = beans;
    this.database = database;
    this.parts = parts;
  }

  List<Found> find() {
    List<Found> found = new ArrayList<>();
    for (String bean : beans.getBeanDefinitionNames()) {
      if (ScopedProxyUtils.isScopedTarget(bean)) {
        continue; // the proxy in front of it has the handlers too
      }
      Class<?> type = type(bean);
      if (type != null && !type.getName().startsWith("org.springframework.")) {
        marked(bean, type)
            .forEach(
                (method, mark) -> {
                  if (serves(method, mark)) {
                    found.add(handler(bean, type, method, mark));
                  }
                });
      }
    }
    return found;
  }

  private @Nullable Class<?> type(String bean) {
    try {
      return target(bean);
    } catch (RuntimeException | LinkageError e) {
      throw unreadable(bean, e);
    }
  }

  private @Nullable Class<?> target(String bean) {
    Class<?> type = AutoProxyUtils.determineTargetClass(beans, bean);
    return type != null && ScopedObject.class.isAssignableFrom(type)
        ? AutoProxyUtils.determineTargetClass(beans, ScopedProxyUtils.getTargetBeanName(bean))
        : type;
  }

  private boolean serves(Method method, OutboxHandler mark) {
    if (!mark.outbox().isEmpty() && !parts.outboxes().contains(mark.outbox())) {
      throw new StartException(
          "The @OutboxHandler method %s names the outbox \"%s\", which does not exist."
              .formatted(method, mark.outbox()),
          "Define postrider.outboxes.%s, or name one of %s."
              .formatted(mark.outbox(), parts.outboxes()));
    }
    return mark.outbox().equals(parts.outbox());
  }

  private static Map<Method, OutboxHandler> marked(String bean, Class<?> type) {
    try {
      return MethodIntrospector.selectMethods(
          type,
          (MethodIntrospector.MetadataLookup<@Nullable OutboxHandler>)
              method -> AnnotatedElementUtils.findMergedAnnotation(method, OutboxHandler.class));
    } catch (RuntimeException | LinkageError e) {
      throw unreadable(bean, e);
    }
  }

  private static StartException unreadable(String bean, Throwable cause) {
    return new StartException(
        "The bean \"%s\" cannot be searched for @OutboxHandler methods: %s"
            .formatted(bean, NestedExceptionUtils.getMostSpecificCause(cause)),
        "Add what is missing to the class path, or remove the bean.",
        cause);
  }

  private Found handler(String bean, Class<?> type, Method method, OutboxHandler mark) {
    String name = mark.name().isEmpty() ? bean + "." + method.getName() : mark.name();
    Class<?> exposed = beans.getType(bean);
    InvocableMethod callable =
        new InvocableMethod(() -> beans.getBean(bean), exposed == null ? type : exposed, method);
    MessageHandler handler = new HandlerMethod(callable, type, mark, parts.codec());
    MessageHandler chosen = mark.once() ? once(name, handler) : handler;
    return new Found(name, mark, message -> parts.scope().call(name, message, chosen));
  }

  private OnceHandler once(String name, MessageHandler handler) {
    PlatformTransactionManager manager = manager();
    if (manager == null) {
      throw new StartException(
          "The @OutboxHandler \"%s\" has once = true, but there is not exactly one transaction"
                  .formatted(name)
              + " manager for the DataSource of its outbox.",
          "Define one, or mark it with @Primary.");
    }
    return new OnceHandler(name, handler, database, manager);
  }

  /** The one whose transactions are on the DataSource; if that is not clear, the primary one. */
  private @Nullable PlatformTransactionManager manager() {
    List<PlatformTransactionManager> fitting =
        parts.transactions().stream().filter(this::isOnDataSource).toList();
    return fitting.size() == 1 ? fitting.get(0) : parts.transactions().getIfUnique();
  }

  private boolean isOnDataSource(PlatformTransactionManager manager) {
    BeanWrapper settings = PropertyAccessorFactory.forBeanPropertyAccess(manager);
    return settings.isReadableProperty("dataSource")
        && settings.getPropertyValue("dataSource")
            == OpenTransaction.resource(database.dataSource());
  }
}
