package dev.postrider.spring;

import dev.postrider.dispatch.HandlerDestination;
import dev.postrider.dispatch.MessageHandler;
import dev.postrider.message.JsonCodec;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
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
   * @param codec reads payloads that are objects; null if there is none
   * @param transactions for handlers with once = true
   * @param scope surrounds each call
   */
  record Parts(
      @Nullable JsonCodec codec,
      ObjectProvider<PlatformTransactionManager> transactions,
      HandlerScope scope) {}

  /** A handler with its name and the messages it is for. */
  record Found(String name, OutboxHandler marked, MessageHandler handler) {
    HandlerDestination open() {
      return HandlerDestination.of(marked.threads(), handler);
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
      Class<?> type = AutoProxyUtils.determineTargetClass(beans, bean);
      if (type != null && !type.getName().startsWith("org.springframework.")) {
        marked(type).forEach((method, mark) -> found.add(handler(bean, type, method, mark)));
      }
    }
    return found;
  }

  private static Map<Method, OutboxHandler> marked(Class<?> type) {
    return MethodIntrospector.selectMethods(
        type,
        (MethodIntrospector.MetadataLookup<@Nullable OutboxHandler>)
            method -> AnnotatedElementUtils.findMergedAnnotation(method, OutboxHandler.class));
  }

  private Found handler(String bean, Class<?> type, Method method, OutboxHandler mark) {
    String name = mark.name().isEmpty() ? bean + "." + method.getName() : mark.name();
    Class<?> exposed = beans.getType(bean);
    Method callable = AopUtils.selectInvocableMethod(method, exposed == null ? type : exposed);
    MessageHandler handler =
        new HandlerMethod(() -> beans.getBean(bean), callable, mark, parts.codec());
    MessageHandler chosen = mark.once() ? once(name, handler) : handler;
    return new Found(name, mark, message -> parts.scope().call(name, message, chosen));
  }

  private OnceHandler once(String name, MessageHandler handler) {
    PlatformTransactionManager manager = parts.transactions().getIfUnique();
    if (manager == null) {
      throw new StartException(
          "The @OutboxHandler \"%s\" has once = true, but there is not exactly one transaction"
                  .formatted(name)
              + " manager.",
          "Mark the transaction manager of the outbox's DataSource with @Primary.");
    }
    return new OnceHandler(name, handler, database, manager);
  }
}
