package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.InvalidMessageException;
import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ClassUtils;

/** Applications with two beans of a type that the outbox wants one of, and none primary. */
@Tag("OP-5")
@ExtendWith(OutputCaptureExtension.class)
class SeveralCandidatesTest {
  record OrderCreated(String orderId) {}

  /** Of Jackson 3 if it is there, else of Jackson 2. */
  static final class TwoMappers implements ImportBeanDefinitionRegistrar {
    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata importing, BeanDefinitionRegistry registry) {
      registry.registerBeanDefinition("oneMapper", mapper());
      registry.registerBeanDefinition("otherMapper", mapper());
    }

    private static RootBeanDefinition mapper() {
      String newer = "tools.jackson.databind.json.JsonMapper";
      String name =
          ClassUtils.isPresent(newer, null) ? newer : "com.fasterxml.jackson.databind.ObjectMapper";
      Class<?> type = ClassUtils.resolveClassName(name, null);
      RootBeanDefinition definition = new RootBeanDefinition(type);
      definition.setInstanceSupplier(() -> BeanUtils.instantiateClass(type));
      return definition;
    }
  }

  static class Mails {
    final List<String> sent = new CopyOnWriteArrayList<>();

    @OutboxHandler(namespace = "shop", topic = "orders")
    void ordered(String payload) {
      sent.add(payload);
    }
  }

  static class Orders {
    @OutboxHandler(namespace = "shop", topic = "orders")
    void ordered(OrderCreated event) {}
  }

  /** Spring Boot's own parts would want one bean as well. */
  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({
    PostriderAutoConfiguration.class,
    PostriderRelayAutoConfiguration.class,
    PostriderObservationAutoConfiguration.class,
    PostriderMetricsAutoConfiguration.class
  })
  static class Shop {
    @Bean
    DataSource dataSource(Environment properties) {
      return DataSourceBuilder.create()
          .url(properties.getRequiredProperty("spring.datasource.url"))
          .build();
    }

    @Bean
    JdbcTransactionManager transactions(DataSource dataSource) {
      return new JdbcTransactionManager(dataSource);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @Import({TwoMappers.class, Mails.class})
  static class Mapped extends Shop {}

  @Configuration(proxyBeanMethods = false)
  @Import({TwoMappers.class, Orders.class})
  static class MappedHandler extends Shop {}

  @Configuration(proxyBeanMethods = false)
  @Import(Mails.class)
  static class Observed extends Shop {
    @Bean
    MeterRegistry oneMeters() {
      return new SimpleMeterRegistry();
    }

    @Bean
    MeterRegistry otherMeters() {
      return new SimpleMeterRegistry();
    }

    @Bean
    ObservationRegistry oneObservations() {
      return ObservationRegistry.create();
    }

    @Bean
    ObservationRegistry otherObservations() {
      return ObservationRegistry.create();
    }
  }

  private static void publish(ConfigurableApplicationContext app, NewMessage message) {
    TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
    new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(status -> outbox.publish(message));
  }

  private static NewMessage text() {
    return NewMessage.to("shop", "orders").json("7").build();
  }

  @Test
  void withTwoMappersTextIsPublishedAndAnObjectIsRefused() {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Mapped.class)) {
      publish(app, text());
      Mails mails = app.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.sent).containsExactly("7"));
      NewMessage object = NewMessage.to("shop", "orders").json(new OrderCreated("8")).build();
      assertThatThrownBy(() -> publish(app, object))
          .isInstanceOf(InvalidMessageException.class)
          .hasMessageContaining("no JSON mapper, or several of which none is primary")
          .hasMessageContaining("@Primary");
    }
  }

  @Test
  void withTwoMappersAHandlerOfAnObjectIsAnErrorAtStart(CapturedOutput output) {
    TestPostgres database = Apps.database();
    assertThatThrownBy(() -> Apps.start(database, MappedHandler.class));
    assertThat(output)
        .contains("there is no JSON mapper, or several of which none is primary")
        .contains("mark one with @Primary");
  }

  @Test
  void withSeveralRegistriesAllOfThemCountAndNothingIsObserved() {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Observed.class)) {
      publish(app, text());
      Mails mails = app.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.sent).containsExactly("7"));
      assertThat(app.getBeansOfType(MeterRegistry.class).values())
          .hasSize(2)
          .allSatisfy(
              meters -> {
                assertThat(meters.get("outbox.claimed.messages").counter().count()).isEqualTo(1);
                assertThat(meters.find("outbox.pending.depth").gauge()).isNotNull();
              });
      assertThat(app.getBeanNamesForType(Observations.class)).isEmpty();
    }
  }
}
