package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import dev.postrider.testkit.TestRabbit;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.TracingObservationHandler;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** One trace from the publisher to the handler, or to the consumer of a broker. */
@Tag("OP-5")
class ObservationTest {
  private static final String WAITING = "select count(*) from postrider.queue";
  private static final String SAMPLED = "management.tracing.sampling.probability=1.0";
  private static final String NO_EXPORT_3 = "management.otlp.tracing.export.enabled=false";
  private static final String NO_EXPORT_4 = "management.tracing.export.enabled=false";

  static class Mails {
    final List<String> traces = new CopyOnWriteArrayList<>();
    final List<String> headers = new CopyOnWriteArrayList<>();
    private final Tracer tracer;

    Mails(Tracer tracer) {
      this.tracer = tracer;
    }

    @OutboxHandler(namespace = "shop", topic = "orders", name = "mails")
    void created(Message message) {
      headers.add(String.valueOf(message.headers().get("traceparent")));
      traces.add(Objects.requireNonNull(tracer.currentSpan()).context().traceId());
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Nothing {
    final List<String> deliveries = new CopyOnWriteArrayList<>();

    @Bean
    ObservationHandler<Observation.Context> recorder() {
      return new ObservationHandler<>() {
        @Override
        public boolean supportsContext(Observation.Context context) {
          return "outbox.deliver".equals(context.getName());
        }

        @Override
        public void onStop(Observation.Context context) {
          TracingObservationHandler.TracingContext tracing =
              context.getRequired(TracingObservationHandler.TracingContext.class);
          deliveries.add(
              "%s %s %s"
                  .formatted(
                      tracing.getSpan().context().traceId(),
                      context.getLowCardinalityKeyValue("destination").getValue(),
                      context.getLowCardinalityKeyValue("outcome").getValue()));
        }
      };
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {
    @Bean
    Mails mails(Tracer tracer) {
      return new Mails(tracer);
    }
  }

  /** Consumers of a broker continue the trace, too. */
  @Test
  void aBrokerGetsTheTraceOfThePublisher() throws Exception {
    TestPostgres database = Apps.database();
    String name = "traced-" + UUID.randomUUID();
    try (var app =
        Apps.start(
            database,
            Nothing.class,
            SAMPLED,
            NO_EXPORT_3,
            NO_EXPORT_4,
            "postrider.destinations.broker.type=rabbitmq",
            "postrider.destinations.broker.uri=" + TestRabbit.uri(),
            "postrider.destinations.broker.exchange=" + name,
            "postrider.destinations.broker.topology.exchanges[0].name=" + name,
            "postrider.destinations.broker.topology.queues[0].name=" + name,
            "postrider.destinations.broker.topology.bindings[0].queue=" + name,
            "postrider.destinations.broker.topology.bindings[0].exchange=" + name,
            "postrider.routes[0].namespace=shop",
            "postrider.routes[0].destination=broker")) {
      String trace = publish(app);
      await().untilAsserted(() -> assertThat(database.count(WAITING)).isZero());
      assertThat(app.getBean(Nothing.class).deliveries)
          .containsExactly(trace + " broker delivered");
      ConnectionFactory factory = new ConnectionFactory();
      factory.setUri(TestRabbit.uri());
      try (Connection connection = factory.newConnection()) {
        GetResponse message =
            Objects.requireNonNull(connection.createChannel().basicGet(name, true));
        assertThat(String.valueOf(message.getProps().getHeaders().get("traceparent")))
            .contains(trace);
      }
    }
  }

  @Test
  void theHandlerContinuesTheTraceOfThePublisher() {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Shop.class, SAMPLED, NO_EXPORT_3, NO_EXPORT_4)) {
      String trace = publish(app);
      Mails mails = app.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.traces).containsExactly(trace));
      assertThat(mails.headers).singleElement().asString().contains(trace);
    }
  }

  /** Publishes within an observation; returns its trace. */
  private static String publish(ConfigurableApplicationContext app) {
    Tracer tracer = app.getBean(Tracer.class);
    AtomicReference<String> trace = new AtomicReference<>();
    Observation.start("request", app.getBean(ObservationRegistry.class))
        .observe(
            () -> {
              trace.set(Objects.requireNonNull(tracer.currentSpan()).context().traceId());
              new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
                  .executeWithoutResult(
                      status ->
                          app.getBean(TransactionalOutbox.class)
                              .publish(
                                  NewMessage.to("shop", "orders")
                                      .aggregate("order", "1")
                                      .eventType("created")
                                      .json("7")
                                      .build()));
            });
    return trace.get();
  }
}
