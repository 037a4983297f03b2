package dev.postrider.spring;

import dev.postrider.enqueue.Outbox;
import dev.postrider.jackson.Jackson2Codec;
import dev.postrider.jackson.Jackson3Codec;
import dev.postrider.message.JsonCodec;
import dev.postrider.store.Schema;
import jakarta.persistence.EntityManagerFactory;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.datasource.DataSourceUtils;

/** The outbox of an application with a DataSource. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
      "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
      "org.springframework.boot.jackson2.autoconfigure.Jackson2AutoConfiguration",
      "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration",
      "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration"
    })
@ConditionalOnClass({DataSource.class, DataSourceUtils.class})
@ConditionalOnBean(DataSource.class)
@ConditionalOnProperty(name = "postrider.enabled", matchIfMissing = true)
@EnableConfigurationProperties(PostriderProperties.class)
public class PostriderAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  @DependsOnDatabaseInitialization
  OutboxSchema postriderSchema(
      PostriderProperties properties, ObjectProvider<DataSource> unique, BeanFactory beans) {
    DataSource dataSource = dataSource(properties.dataSource(), unique, beans);
    return OutboxSchema.ready(dataSource, new Schema(properties.schema()), properties.migrate());
  }

  private static DataSource dataSource(
      @Nullable String name, ObjectProvider<DataSource> unique, BeanFactory beans) {
    if (name != null) {
      return named(beans, "postrider.data-source", name);
    }
    DataSource found = unique.getIfUnique();
    if (found == null) {
      throw new StartException(
          "The application has several DataSources, and none is primary.",
          "Set postrider.data-source to the name of the DataSource bean that the messages belong"
              + " to, or mark that bean with @Primary.");
    }
    return found;
  }

  static DataSource named(BeanFactory beans, String property, String name) {
    try {
      return beans.getBean(name, DataSource.class);
    } catch (NoSuchBeanDefinitionException e) {
      throw new StartException(
          "%s names \"%s\", but there is no such DataSource bean.".formatted(property, name),
          "Set %s to the name of a DataSource bean.".formatted(property),
          e);
    }
  }

  @Bean
  LocalWake postriderWake() {
    return new LocalWake();
  }

  /** Primary, so that outboxes of further DataSources can stand beside it. */
  @Bean
  @Primary
  @ConditionalOnMissingBean(name = "transactionalOutbox")
  TransactionalOutbox transactionalOutbox(
      OutboxSchema schema,
      ObjectProvider<JsonCodec> codec,
      ObjectProvider<PersistenceFlush> flush,
      ObjectProvider<PublishScope> scope,
      ObjectProvider<PublishListener> listeners,
      LocalWake wake) {
    return new TransactionalOutbox(
        schema.dataSource(),
        new Outbox(schema.schema(), codec.getIfAvailable()),
        new TransactionalOutbox.Hooks(
            flush.getIfAvailable(() -> () -> {})::run,
            scope.getIfAvailable(() -> PublishScope.NONE),
            listeners.orderedStream().toList(),
            wake));
  }

  /** Writes what the persistence contexts hold back. */
  @FunctionalInterface
  interface PersistenceFlush {
    void run();
  }

  /** For applications with JPA. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(
      name = {
        "jakarta.persistence.EntityManagerFactory",
        "org.springframework.orm.jpa.EntityManagerFactoryUtils"
      })
  static class Jpa {
    @Bean
    PersistenceFlush postriderFlush(ObjectProvider<EntityManagerFactory> factories) {
      return new PersistenceContexts(factories)::run;
    }
  }

  /** Payloads with Jackson 3. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "tools.jackson.databind.json.JsonMapper")
  static class Jackson3 {
    @Bean
    @ConditionalOnMissingBean(JsonCodec.class)
    @ConditionalOnBean(tools.jackson.databind.json.JsonMapper.class)
    JsonCodec postriderJackson3Codec(tools.jackson.databind.json.JsonMapper mapper) {
      return new Jackson3Codec(mapper);
    }
  }

  /** Payloads with Jackson 2. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "com.fasterxml.jackson.databind.ObjectMapper")
  static class Jackson2 {
    @Bean
    @ConditionalOnMissingBean(JsonCodec.class)
    @ConditionalOnBean(com.fasterxml.jackson.databind.ObjectMapper.class)
    JsonCodec postriderJackson2Codec(com.fasterxml.jackson.databind.ObjectMapper mapper) {
      return new Jackson2Codec(mapper);
    }
  }
}
