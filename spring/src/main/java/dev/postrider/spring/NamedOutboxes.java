package dev.postrider.spring;

import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/** The outboxes of {@code postrider.outboxes}, each with its tables and its relay. Thread-safe. */
final class NamedOutboxes {
  static final String BEAN = "postriderNamedOutboxes";
  private static final String KEY = "postrider.outboxes";

  private final OutboxParts parts;
  private final Map<String, OutboxProperties> settings;
  private final Map<String, Named> made = new TreeMap<>();

  NamedOutboxes(OutboxParts parts, Map<String, OutboxProperties> settings) {
    this.parts = parts;
    this.settings = settings;
  }

  private record Named(
      OutboxProperties settings, OutboxSchema database, RelayPlan plan, LocalWake wake) {}

  private synchronized Named named(String name) {
    return made.computeIfAbsent(name, this::make);
  }

  private Named make(String name) {
    OutboxProperties own = Objects.requireNonNull(settings.get(name), name);
    String dataSource = Objects.requireNonNullElse(own.dataSource(), name);
    OutboxSchema database =
        parts.schema(parts.dataSource("%s.%s.data-source".formatted(KEY, name), dataSource), own);
    return new Named(own, database, parts.plan(name, own, database), new LocalWake());
  }

  TransactionalOutbox outbox(String name) {
    Named named = named(name);
    return parts.outbox(name, named.settings(), named.database(), named::plan, named.wake());
  }

  OutboxRelay relay(String name) {
    Named named = named(name);
    return parts.relay(named.plan(), named.wake());
  }

  /** Defines the beans: an outbox with the name as qualifier, and its relay. */
  static final class Registrar implements ImportBeanDefinitionRegistrar, EnvironmentAware {
    private @Nullable Environment environment;

    @Override
    public void setEnvironment(Environment environment) {
      this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata importing, BeanDefinitionRegistry registry) {
      Environment properties = Objects.requireNonNull(environment);
      Map<String, Object> named =
          Binder.get(properties)
              .bind(KEY, Bindable.mapOf(String.class, Object.class))
              .orElse(Map.of());
      for (String name : named.keySet()) {
        RootBeanDefinition outbox = made("outbox", name);
        outbox.addQualifier(new AutowireCandidateQualifier(Qualifier.class, name));
        registry.registerBeanDefinition(name + "Outbox", outbox);
        if (enabled(properties, "postrider.relay.enabled")
            && enabled(properties, "%s.%s.relay.enabled".formatted(KEY, name))) {
          RootBeanDefinition relay = made("relay", name);
          relay.setLazyInit(false);
          registry.registerBeanDefinition(name + "OutboxRelay", relay);
        }
      }
    }

    private static boolean enabled(Environment properties, String key) {
      return Binder.get(properties).bind(key, Boolean.class).orElse(true);
    }

    private static RootBeanDefinition made(String method, String name) {
      RootBeanDefinition definition = new RootBeanDefinition();
      definition.setFactoryBeanName(BEAN);
      definition.setFactoryMethodName(method);
      definition.getConstructorArgumentValues().addIndexedArgumentValue(0, name);
      return definition;
    }
  }
}
