package dev.postrider.spring;

import dev.postrider.message.NewMessage;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.event.EventListener;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.ExpressionParser;
import org.springframework.expression.ParserContext;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.RoutingTarget;

/**
 * Publishes the events that Spring Modulith externalizes, in the transaction that they happen in.
 * Target and key are evaluated on the event itself. The event is mapped once: what is stored is
 * what is delivered. Thread-safe.
 */
final class ModulithPublisher {
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
    String topic = evaluated(routing.getTarget(), event);
    if (topic == null) {
      throw new IllegalStateException(
          "the target %s of the event %s is null".formatted(routing, event.getClass().getName()));
    }
    NewMessage.Builder message = NewMessage.to(namespace, topic);
    @Nullable String key = evaluated(routing.getKey(), event);
    if (key != null && !key.isEmpty()) {
      message.key(key);
    }
    configuration
        .getHeadersFor(event)
        .forEach((name, value) -> message.header(name, String.valueOf(value)));
    payload(message, configuration.map(event));
    outbox.publish(message.build());
  }

  /** An expression may stand anywhere in the text; Modulith only looks for it at the start. */
  private @Nullable String evaluated(@Nullable String text, Object event) {
    return text == null
        ? null
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
