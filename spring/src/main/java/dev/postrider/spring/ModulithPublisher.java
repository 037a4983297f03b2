package dev.postrider.spring;

import dev.postrider.message.NewMessage;
import java.nio.charset.StandardCharsets;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.event.EventListener;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.support.BrokerRouting;

/**
 * Publishes the events that Spring Modulith externalizes, in the transaction that they happen in.
 * Target and key are evaluated on the event itself. The event is mapped once: what is stored is
 * what is delivered. Thread-safe.
 */
final class ModulithPublisher {
  private final TransactionalOutbox outbox;
  private final EventExternalizationConfiguration configuration;
  private final String namespace;
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
    BrokerRouting routing = BrokerRouting.of(configuration.determineTarget(event), expressions);
    NewMessage.Builder message = NewMessage.to(namespace, routing.getTarget(event));
    String key = routing.getKey(event);
    if (key != null && !key.isEmpty()) {
      message.key(key);
    }
    configuration
        .getHeadersFor(event)
        .forEach((name, value) -> message.header(name, String.valueOf(value)));
    payload(message, configuration.map(event));
    outbox.publish(message.build());
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
