package dev.postrider.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.testkit.RabbitServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A broker that hangs, runs out of memory, or does not let us in. */
class RabbitFaultTest {
  private static RabbitServer server;

  @AutoClose private final TestBroker broker = new TestBroker(server);
  private final String name = TestBroker.unique("faults");

  @BeforeAll
  static void startBroker() {
    server = RabbitServer.start(Map.of("max_message_size", "100000"));
  }

  @AfterAll
  static void stopBroker() {
    server.close();
  }

  @BeforeEach
  void declare() throws Exception {
    broker.exchangeAndQueue(name, Map.of());
  }

  private RabbitConfig.Builder config(Duration heartbeat) {
    return RabbitConfig.to(Broker.at(server.address()).heartbeat(heartbeat).build())
        .exchange(name)
        .routingKey("{aggregate_type}");
  }

  @Test
  @Tag("HE-3")
  void aMemoryAlarmIsNoFailure() throws Exception {
    try (RabbitDestination destination =
        RabbitDestination.open(
            config(Duration.ofSeconds(60)).confirmTimeout(Duration.ofSeconds(2)).build())) {
      server.control("set_vm_memory_high_watermark", "0.0000001");
      try {
        // The first reaches the broker's door, and makes it tell us; nobody knows of it yet.
        Given.Sent first = Given.sent(destination, Given.messages("orders", 1));
        await().until(() -> blocked(destination));
        assertThat(Given.codes(first.await())).containsExactly("unavailable blocked");
        assertThat(Given.answers(destination, Given.messages("orders", 100)))
            .allMatch(outcome -> outcome.toString().contains("blocked publishing: low on memory"));
      } finally {
        server.control("set_vm_memory_high_watermark", "0.4");
      }
      await().until(() -> !blocked(destination));
      assertThat(Given.codes(Given.answers(destination, Given.messages("orders", 100))))
          .containsOnly("delivered");
    }
  }

  private static boolean blocked(RabbitDestination destination) throws Exception {
    return Given.code(Given.answer(destination, Given.message("orders")))
        .equals("unavailable blocked");
  }

  @Test
  @Tag("HE-3")
  void aConfirmThatDoesNotComeInTimeIsNoDelivery() throws Exception {
    try (RabbitDestination destination =
        RabbitDestination.open(
            config(Duration.ofMinutes(5)).confirmTimeout(Duration.ofMillis(300)).build())) {
      assertThat(Given.code(Given.answer(destination, Given.message("orders"))))
          .isEqualTo("delivered");
      server.freeze();
      List<Outcome> outcomes;
      try {
        outcomes = Given.answers(destination, Given.messages("orders", 20));
      } finally {
        server.thaw();
      }
      assertThat(Given.codes(outcomes)).containsOnly("unavailable confirm_timeout");
      // The late confirms come now, and must not be taken for those of other messages.
      broker.channel().queueUnbind(name, name, "#");
      await()
          .until(
              () ->
                  Given.code(Given.answer(destination, Given.message("orders")))
                      .equals("retryable unroutable"));
    }
  }

  @Test
  @Tag("HE-3")
  @Tag("EN-10")
  void aBrokerThatHangsIsUnavailableByItsHeartbeat() throws Exception {
    try (RabbitDestination destination =
        RabbitDestination.open(config(Duration.ofSeconds(1)).build())) {
      assertThat(Given.code(Given.answer(destination, Given.message("orders"))))
          .isEqualTo("delivered");
      server.freeze();
      try {
        assertThat(Given.codes(Given.answers(destination, Given.messages("orders", 20))))
            .containsOnly("unavailable connection_closed");
      } finally {
        server.thaw();
      }
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  Given.code(Given.answer(destination, Given.message("orders")))
                      .equals("delivered"));
    }
  }

  @Test
  @Tag("HE-3")
  void aSocketThatNobodyReadsDoesNotHoldUpTheRelay() throws Exception {
    try (RabbitDestination destination =
        RabbitDestination.open(config(Duration.ofMinutes(5)).build())) {
      assertThat(Given.code(Given.answer(destination, Given.message("orders"))))
          .isEqualTo("delivered");
      List<Message> large = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        large.add(Given.message("orders", "\"" + "x".repeat(90_000) + "\"", Map.of()));
      }
      server.freeze();
      try {
        long start = System.nanoTime();
        assertThat(Given.codes(Given.answers(destination, large)))
            .containsOnly("unavailable write_timeout");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
      } finally {
        server.thaw();
      }
    }
  }

  @Test
  @Tag("HE-3")
  void whatIsTooLargeForTheBrokerIsTerminalAndItsNeighboursAreNot() throws Exception {
    try (RabbitDestination destination =
        RabbitDestination.open(config(Duration.ofSeconds(10)).channels(1).build())) {
      Message large = Given.message("orders", "\"" + "x".repeat(100_000) + "\"", Map.of());
      List<Message> batch =
          List.of(Given.message("orders"), large, Given.message("orders"), large(large));
      await()
          .until(
              () -> {
                List<String> codes = Given.codes(Given.answers(destination, batch));
                assertThat(codes.get(0)).isIn("delivered", "not sent channel_closed");
                assertThat(codes.get(2)).isIn("delivered", "not sent channel_closed");
                return codes.equals(
                    List.of(
                        "delivered",
                        "terminal precondition_failed",
                        "delivered",
                        "terminal precondition_failed"));
              });
    }
  }

  private static Message large(Message like) {
    return Given.message("orders", like.text(), Map.of());
  }

  @Test
  @Tag("HE-3")
  void whoMayNotWriteIsToldSoAndLosesNothing() throws Exception {
    server.control("add_user", "reader", "reader-secret");
    server.control("set_permissions", "reader", "", "", ".*");
    try (RabbitDestination destination =
        RabbitDestination.open(
            RabbitConfig.to(
                    Broker.at(server.address()).credentials("reader", "reader-secret").build())
                .exchange(name)
                .build())) {
      Outcome refused = Given.answer(destination, Given.message("orders"));
      assertThat(Given.code(refused)).isEqualTo("retryable access_refused");
      assertThat(refused.toString()).contains(name).doesNotContain("reader-secret");
      server.control("set_permissions", "reader", "", ".*", ".*");
      await()
          .until(
              () ->
                  Given.code(Given.answer(destination, Given.message("orders")))
                      .equals("delivered"));
    }
  }

  @Test
  @Tag("OP-6")
  void thePasswordIsInNoAnswerAndNoLog() throws Exception {
    ListAppender<ILoggingEvent> seen = new ListAppender<>();
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    Level level = root.getLevel();
    seen.start();
    root.addAppender(seen);
    root.setLevel(Level.DEBUG);
    Broker stranger = Broker.at(server.address()).credentials("guest", "hunter2secret").build();
    try (RabbitDestination destination =
        RabbitDestination.open(RabbitConfig.to(stranger).exchange(name).build())) {
      Outcome refused = Given.answer(destination, Given.message("orders"));
      assertThat(Given.code(refused)).isEqualTo("unavailable login_refused");
      assertThat(refused.toString() + stranger).doesNotContain("hunter2secret");
    } finally {
      root.setLevel(level);
      root.detachAppender(seen);
    }
    List<ILoggingEvent> events = List.copyOf(seen.list);
    assertThat(events).anyMatch(event -> event.getFormattedMessage().contains("login_refused"));
    assertThat(events)
        .noneMatch(event -> event.getFormattedMessage().contains("hunter2secret"))
        .noneMatch(event -> String.valueOf(event.getThrowableProxy()).contains("hunter2secret"));
  }
}
