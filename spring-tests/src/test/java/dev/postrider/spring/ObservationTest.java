package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** One trace from the publisher to the handler. */
@Tag("OP-5")
class ObservationTest {
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
  static class Shop {
    @Bean
    Mails mails(Tracer tracer) {
      return new Mails(tracer);
    }
  }

  @Test
  void theHandlerContinuesTheTraceOfThePublisher() {
    TestPostgres database = Apps.database();
    try (var app =
        Apps.start(
            database,
            Shop.class,
            "management.tracing.sampling.probability=1.0",
            "management.otlp.tracing.export.enabled=false",
            "management.tracing.export.enabled=false")) {
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
                                .publish(NewMessage.to("shop", "orders").json("7").build()));
              });
      Mails mails = app.getBean(Mails.class);
      await().untilAsserted(() -> assertThat(mails.traces).containsExactly(trace.get()));
      assertThat(mails.headers).singleElement().asString().contains(trace.get());
    }
  }
}
