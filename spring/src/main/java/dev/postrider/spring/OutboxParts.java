package dev.postrider.spring;

import dev.postrider.enqueue.Outbox;
import dev.postrider.internal.text.LogLine;
import dev.postrider.message.JsonCodec;
import dev.postrider.message.PostriderException;
import dev.postrider.observe.RelayListener;
import dev.postrider.schema.Schema;
import dev.postrider.spring.PostriderAutoConfiguration.PersistenceFlush;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;

/** Makes the parts of an outbox from its settings and the beans of the application. */
final class OutboxParts {
  private static final Logger log = LoggerFactory.getLogger(OutboxParts.class);

  private final ConfigurableListableBeanFactory beans;
  private final PostriderProperties properties;

  OutboxParts(ConfigurableListableBeanFactory beans, PostriderProperties properties) {
    this.beans = beans;
    this.properties = properties;
  }

  OutboxSchema schema(DataSource dataSource, OutboxProperties settings) {
    return OutboxSchema.ready(dataSource, named(settings.schema()), settings.migrate());
  }

  private static Schema named(String name) {
    try {
      return new Schema(name);
    } catch (PostriderException e) {
      throw new StartException(
          String.valueOf(e.getMessage()), "Set postrider.schema to another name.", e);
    }
  }

  DataSource onlyDataSource() {
    DataSource found = beans.getBeanProvider(DataSource.class).getIfUnique();
    if (found == null) {
      throw new StartException(
          "The application has several DataSources, and none is primary.",
          "Set postrider.data-source to the name of the DataSource bean that the messages belong"
              + " to, or mark that bean with @Primary. For messages of a further DataSource set"
              + " postrider.outboxes.NAME.data-source, and inject"
              + " @Qualifier(\"NAME\") TransactionalOutbox.");
    }
    return found;
  }

  DataSource dataSource(String property, String name) {
    try {
      return beans.getBean(name, DataSource.class);
    } catch (NoSuchBeanDefinitionException e) {
      throw new StartException(
          "%s names \"%s\", but there is no such DataSource bean.".formatted(property, name),
          "Set %s to the name of a DataSource bean.".formatted(property),
          e);
    }
  }

  /**
   * @param name of the outbox; empty for the one without a name
   */
  RelayPlan plan(String name, OutboxProperties settings, OutboxSchema database) {
    Handlers.Parts parts =
        new Handlers.Parts(
            name,
            properties.outboxes().keySet(),
            beans.getBeanProvider(JsonCodec.class).getIfAvailable(),
            beans.getBeanProvider(PlatformTransactionManager.class),
            beans.getBeanProvider(HandlerScope.class).getIfAvailable(() -> HandlerScope.NONE));
    String prefix = prefix(name);
    Supplier<DataSource> connections =
        () -> connections(name, settings.relay(), database.dataSource());
    return new RelayPlan(
        prefix,
        settings,
        database,
        new Destinations(prefix, database.schema(), connections, beans),
        new Handlers(beans, database, parts),
        connections);
  }

  private static String prefix(String outbox) {
    return outbox.isEmpty() ? "postrider" : "postrider.outboxes." + outbox;
  }

  /**
   * @param name of the outbox; empty for the one without a name
   */
  TransactionalOutbox outbox(
      String name,
      OutboxProperties settings,
      OutboxSchema database,
      Supplier<RelayPlan> plan,
      LocalWake wake) {
    boolean relays = properties.relay().enabled() && settings.relay().enabled();
    return new TransactionalOutbox(
        database.dataSource(),
        new Outbox(
            database.schema(),
            beans.getBeanProvider(JsonCodec.class).getIfAvailable(MissingCodec::new)),
        new TransactionalOutbox.Hooks(
            beans.getBeanProvider(PersistenceFlush.class).getIfAvailable(() -> () -> {})::run,
            beans.getBeanProvider(PublishScope.class).getIfAvailable(() -> PublishScope.NONE),
            new RouteCheck(
                database.schema(),
                settings.unrouted(),
                relays,
                () -> plan.get().lines(),
                wake::name),
            listeners(name),
            wake));
  }

  /** Those with the name of an outbox as qualifier are for that one, the others for the first. */
  private List<PublishListener> listeners(String outbox) {
    Set<String> names = outbox.isEmpty() ? properties.outboxes().keySet() : Set.of(outbox);
    Set<PublishListener> qualified = Collections.newSetFromMap(new IdentityHashMap<>());
    for (String name : names) {
      qualified.addAll(
          BeanFactoryAnnotationUtils.qualifiedBeansOfType(beans, PublishListener.class, name)
              .values());
    }
    return beans
        .getBeanProvider(PublishListener.class)
        .orderedStream()
        .filter(listener -> qualified.contains(listener) != outbox.isEmpty())
        .toList();
  }

  OutboxRelay relay(RelayPlan plan, LocalWake wake) {
    RelayListener all =
        RelayListener.all(
            beans
                .getBeanProvider(RelayListener.class)
                .orderedStream()
                .toArray(RelayListener[]::new));
    return new OutboxRelay(plan::subscribe, () -> plan.make(all), wake);
  }

  private DataSource connections(
      String outbox, PostriderProperties.Relay settings, DataSource pool) {
    @Nullable String name = settings.dataSource();
    if (name != null) {
      return dataSource(prefix(outbox) + ".relay.data-source", name);
    }
    if (!settings.ownConnections()) {
      return pool;
    }
    try {
      return RelayConnections.beside(pool);
    } catch (RuntimeException e) {
      log.warn(
          "{}",
          LogLine.of("outbox_relay_shares_pool")
              .put("reason", e.getMessage())
              .put("advice", "set postrider.relay.data-source"));
      return pool;
    }
  }
}
