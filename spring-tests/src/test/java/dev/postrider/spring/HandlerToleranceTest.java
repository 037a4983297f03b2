package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.testkit.TestPostgres;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Payloads that handlers did not expect, and handlers behind proxies. */
@Tag("OP-5")
@ExtendWith(OutputCaptureExtension.class)
class HandlerToleranceTest {
  private static final String JDK_PROXIES = "spring.aop.proxy-target-class=false";
  private static final List<String> HANDLED = new CopyOnWriteArrayList<>();

  record OrderCreated(String orderId) {}

  static void handled(Object payload) {
    boolean transaction = TransactionSynchronizationManager.isActualTransactionActive();
    HANDLED.add(payload + (transaction ? " in a transaction" : ""));
  }

  @Transactional
  static class Orders {
    private final String prefix = "got ";

    @OutboxHandler(namespace = "shop", topic = "orders")
    void created(OrderCreated event) {
      handled(prefix + event);
    }

    @OutboxHandler(namespace = "shop", topic = "counts")
    void counted(long count) {
      handled(count);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Orders.class)
  static class Shop {}

  interface Handling {
    void created(String payload);
  }

  @Transactional
  static class Behind implements Handling {
    @Override
    @OutboxHandler(namespace = "shop", topic = "orders")
    public void created(String payload) {
      handled(payload);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Behind.class)
  static class BehindInterface {}

  @Transactional
  static class Hidden implements Handling {
    @Override
    public void created(String payload) {}

    @OutboxHandler(namespace = "shop", topic = "orders")
    public void hidden(String payload) {}
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Hidden.class)
  static class HiddenByInterface {}

  static class Private {
    @OutboxHandler(namespace = "shop", topic = "orders")
    private void created(String payload) {}
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Private.class)
  static class PrivateHandler {}

  @Transactional
  static class Final {
    @OutboxHandler(namespace = "shop", topic = "orders")
    final void created(String payload) {}
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Final.class)
  static class FinalHandler {}

  private static void enqueue(TestPostgres database, String topic, String payload, String type) {
    database.execute(
        "select postrider.enqueue('shop', '%s', '%s', event_type => '%s')"
            .formatted(topic, payload, type));
  }

  @Test
  void unknownTypesAndPropertiesAreHandled() {
    TestPostgres database = Apps.database();
    HANDLED.clear();
    enqueue(database, "orders", "{\"orderId\": \"1\", \"colour\": {\"red\": 1}}", "never-seen");
    enqueue(database, "orders", "{}", "created");
    try (var app = Apps.start(database, Shop.class)) {
      await()
          .untilAsserted(
              () ->
                  assertThat(HANDLED)
                      .containsExactlyInAnyOrder(
                          "got OrderCreated[orderId=1] in a transaction",
                          "got OrderCreated[orderId=null] in a transaction"));
      assertThat(AopUtils.isCglibProxy(app.getBean(Orders.class))).isTrue();
    }
  }

  /** No other attempt would help. */
  @Test
  void aNullPayloadIsDeadAtOnce() {
    TestPostgres database = Apps.database();
    enqueue(database, "counts", "null", "counted");
    enqueue(database, "orders", "null", "created");
    try (var app = Apps.start(database, Shop.class)) {
      await()
          .untilAsserted(
              () ->
                  assertThat(database.column("select code from postrider.dead_letter"))
                      .containsExactly("payload_unreadable", "payload_unreadable"));
      assertThat(app.isRunning()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHandlerBehindAnInterfaceIsCalledThroughItsProxy(boolean lazy) {
    TestPostgres database = Apps.database();
    HANDLED.clear();
    enqueue(database, "orders", "7", "created");
    try (var app =
        Apps.start(
            database,
            BehindInterface.class,
            JDK_PROXIES,
            "spring.main.lazy-initialization=" + lazy)) {
      await().untilAsserted(() -> assertThat(HANDLED).containsExactly("7 in a transaction"));
      assertThat(AopUtils.isJdkDynamicProxy(app.getBean(Handling.class))).isTrue();
    }
  }

  @Test
  void aMethodThatTheProxyDoesNotHaveIsReported(CapturedOutput output) {
    TestPostgres database = Apps.database();
    assertThatThrownBy(() -> Apps.start(database, HiddenByInterface.class, JDK_PROXIES));
    assertThat(output)
        .contains("hidden(java.lang.String) cannot be called through the proxy")
        .contains("spring.aop.proxy-target-class=true");
  }

  @Test
  void aPrivateMethodIsReported(CapturedOutput output) {
    TestPostgres database = Apps.database();
    assertThatThrownBy(() -> Apps.start(database, PrivateHandler.class));
    assertThat(output).contains("created(java.lang.String) is private").contains("Remove private");
  }

  @Test
  void aFinalMethodOfAProxiedBeanIsReported(CapturedOutput output) {
    TestPostgres database = Apps.database();
    assertThatThrownBy(() -> Apps.start(database, FinalHandler.class));
    assertThat(output)
        .contains("created(java.lang.String) is final, and its bean is behind a proxy")
        .contains("Remove final");
  }
}
