package dev.postrider.spring;

import dev.postrider.message.NewMessage;
import java.lang.annotation.Annotation;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.event.EventListener;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.expression.ExpressionParser;
import org.springframework.expression.ParserContext;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.RoutingTarget;

/**
 * Publishes the events that Spring Modulith externalizes, in the transaction that they happen in.
 * The expressions of the annotation are evaluated on the event itself. Text from elsewhere may come
 * from the event, so it is never evaluated. The event is mapped once: what is stored is what is
 * delivered. Thread-safe.
 */
final class ModulithPublisher {
  private static final List<String> ANNOTATIONS =
      List.of(
          "org.springframework.modulith.events.Externalized",
          "org.jmolecules.event.annotation.Externalized");

  private final TransactionalOutbox outbox;
  private final EventExternalizationConfiguration configuration;
  private final String namespace;
  private final ExpressionParser parser = new SpelExpressionParser();
  private final StandardEvaluationContext expressions = new StandardEvaluationContext();

  ModulithPublisher(
      TransactionalOutbox outbox,
      EventExternalizationConfiguration configuration,
      String namespace,
      BeanFactory beans) {
    this.outbox = outbox;
    this.configuration = configuration;
    this.namespace = namespace;
    this.expressions.setBeanResolver(new BeanFactoryResolver(beans));
  }

  @EventListener
  void on(Object event) {
    if (!configuration.supports(event)) {
      return;
    }
    RoutingTarget routing = configuration.determineTarget(event);
    Set<String> written = written(event.getClass());
    String topic = evaluated(routing.getTarget(), written, event);
    if (topic == null) {
      throw new IllegalStateException(
          "the target %s of the event %s is null".formatted(routing, event.getClass().getName()));
    }
    NewMessage.Builder message = NewMessage.to(namespace, topic);
    @Nullable String key = evaluated(routing.getKey(), written, event);
    if (key != null && !key.isEmpty()) {
      message.key(key);
    }
    configuration
        .getHeadersFor(event)
        .forEach((name, value) -> message.header(name, String.valueOf(value)));
    payload(message, configuration.map(event));
    outbox.publish(message.build());
  }

  /** Target and key as they stand in the annotations of the type. */
  private static Set<String> written(Class<?> type) {
    Set<String> written = new HashSet<>();
    MergedAnnotations annotations = MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY);
    for (String name : ANNOTATIONS) {
      MergedAnnotation<Annotation> annotation = annotations.get(name);
      for (String attribute : List.of("target", "value")) {
        annotation
            .getValue(attribute, String.class)
            .ifPresent(
                text -> Arrays.stream(text.split("::", 2)).map(String::trim).forEach(written::add));
      }
    }
    return written;
  }

  /** An expression may stand anywhere in the text; Modulith only looks for it at the start. */
  private @Nullable String evaluated(@Nullable String text, Set<String> written, Object event) {
    return text == null || !written.contains(text)
        ? text
        : parser
            .parseExpression(text, ParserContext.TEMPLATE_EXPRESSION)
            .getValue(expressions, event, String.class);
  }

  private static void payload(NewMessage.Builder message, Object mapped) {
    if (mapped instanceof byte[] bytes) {
      message.payload(bytes, "application/octet-stream");
    } else if (mapped instanceof CharSequence text) {
      message.payload(text.toString().getBytes(StandardCharsets.UTF_8), "text/plain");
    } else {
      message.json(mapped);
    }
  }
}
