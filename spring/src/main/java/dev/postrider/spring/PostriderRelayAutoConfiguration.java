package dev.postrider.spring;

import dev.postrider.message.JsonCodec;
import dev.postrider.observe.RelayListener;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.transaction.PlatformTransactionManager;

/** The relay of an application with an outbox. */
@AutoConfiguration(after = PostriderAutoConfiguration.class)
@ConditionalOnBean(OutboxSchema.class)
public class PostriderRelayAutoConfiguration {
  private static final Logger log = LoggerFactory.getLogger(PostriderRelayAutoConfiguration.class);

  /** Also for tests that deliver by hand. */
  @Bean
  @Lazy
  RelayPlan postriderRelayPlan(
      PostriderProperties properties,
      OutboxSchema database,
      ConfigurableListableBeanFactory beans,
      ObjectProvider<JsonCodec> codec,
      ObjectProvider<PlatformTransactionManager> transactions,
      ObjectProvider<HandlerScope> scope,
      ObjectProvider<SslBundles> bundles) {
    Handlers.Parts parts =
        new Handlers.Parts(
            codec.getIfAvailable(), transactions, scope.getIfAvailable(() -> HandlerScope.NONE));
    return new RelayPlan(
        properties,
        database,
        new Destinations(database, new SpringBrokers(beans), bundles, beans.getBeanClassLoader()),
        new Handlers(beans, database, parts),
        () -> connections(properties.relay(), database.dataSource(), beans));
  }

  @Bean
  @Lazy(false)
  @ConditionalOnProperty(name = "postrider.relay.enabled", matchIfMissing = true)
  OutboxRelay outboxRelay(RelayPlan plan, ObjectProvider<RelayListener> listeners, LocalWake wake) {
    RelayListener all = RelayListener.all(listeners.orderedStream().toArray(RelayListener[]::new));
    return new OutboxRelay(() -> plan.make(all), wake);
  }

  private static DataSource connections(
      PostriderProperties.Relay settings, DataSource pool, BeanFactory beans) {
    String name = settings.dataSource();
    if (name != null) {
      return PostriderAutoConfiguration.named(beans, "postrider.relay.data-source", name);
    }
    if (!settings.ownConnections()) {
      return pool;
    }
    try {
      return RelayConnections.beside(pool);
    } catch (RuntimeException e) {
      log.warn(
          "event=outbox_relay_shares_pool reason=\"{}\" advice=\"set postrider.relay.data-source\"",
          e.getMessage());
      return pool;
    }
  }
}
