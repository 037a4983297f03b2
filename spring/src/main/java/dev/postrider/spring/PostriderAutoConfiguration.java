package dev.postrider.spring;

import dev.postrider.jackson.Jackson2Codec;
import dev.postrider.jackson.Jackson3Codec;
import dev.postrider.message.JsonCodec;
import jakarta.persistence.EntityManagerFactory;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
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
@Import(NamedOutboxes.Registrar.class)
public class PostriderAutoConfiguration {

  @Bean
  OutboxParts postriderParts(
      ConfigurableListableBeanFactory beans, PostriderProperties properties) {
    return new OutboxParts(beans, properties);
  }

  @Bean
  @DependsOnDatabaseInitialization
  OutboxSchema postriderSchema(OutboxParts parts, PostriderProperties properties) {
    String name = properties.dataSource();
    return parts.schema(
        name == null ? parts.onlyDataSource() : parts.dataSource("postrider.data-source", name),
        properties.first());
  }

  @Bean(NamedOutboxes.BEAN)
  @DependsOnDatabaseInitialization
  NamedOutboxes postriderNamedOutboxes(OutboxParts parts, PostriderProperties properties) {
    return new NamedOutboxes(parts, properties.outboxes());
  }

  @Bean
  static EndedTransactions postriderEndedTransactions() {
    return new EndedTransactions();
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
      OutboxParts parts,
      PostriderProperties properties,
      OutboxSchema schema,
      ObjectProvider<RelayPlan> plan,
      LocalWake wake) {
    return parts.outbox("", properties.first(), schema, plan::getObject, wake);
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
    @ConditionalOnSingleCandidate(tools.jackson.databind.json.JsonMapper.class)
    JsonCodec postriderJackson3Codec(tools.jackson.databind.json.JsonMapper mapper) {
      return new Jackson3Codec(mapper);
    }
  }

  /** Payloads with Jackson 2. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "com.fasterxml.jackson.databind.ObjectMapper")
  static class Jackson2 {
    @Bean
    @ConditionalOnMissingBean(
        value = JsonCodec.class,
        type = "tools.jackson.databind.json.JsonMapper")
    @ConditionalOnSingleCandidate(com.fasterxml.jackson.databind.ObjectMapper.class)
    JsonCodec postriderJackson2Codec(com.fasterxml.jackson.databind.ObjectMapper mapper) {
      return new Jackson2Codec(mapper);
    }
  }
}
