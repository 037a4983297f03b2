package dev.postrider.server.console;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Backoff;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.relay.RouteOptions;
import dev.postrider.server.Desk;
import java.time.Duration;
import java.util.Objects;

/** A relay with a payment rail that can be down, can have a bug, or works. */
final class Rail implements AutoCloseable {
  enum State {
    WORKS,
    DOWN,
    REFUSES_REFUNDS
  }

  private volatile State state = State.WORKS;
  private final Relay relay;

  Rail(Desk desk) {
    RetryPolicy policy =
        new RetryPolicy(
            new Backoff(Duration.ofSeconds(30), Duration.ofSeconds(60), 0),
            5,
            RetryPolicy.DeadPolicy.BLOCK);
    relay =
        Relay.builder(desk.postgres.dataSource())
            .config(RelayConfig.defaults().withName("relay-1"))
            .destination(
                "rail",
                HandlerDestination.of(4, this::deliver),
                DestinationOptions.DEFAULT.withBreaker(
                    new BreakerOptions(3, Duration.ofMillis(300), Duration.ofSeconds(1))))
            .route("payments", "instructions", "rail", RouteOptions.DEFAULT.withRetry(policy))
            .route("payments", "receipts", "rail")
            .build()
            .start();
  }

  void is(State next) {
    state = next;
  }

  private Outcome deliver(Message message) {
    if (state == State.DOWN) {
      return Outcome.unavailable("refused", "connection refused");
    } else if (state == State.REFUSES_REFUNDS && Objects.equals(message.eventType(), "refunded")) {
      return Outcome.terminal(
          "http_422", ErrorReport.of("HTTP 422", "{\"error\": \"unknown field: reason\"}"));
    }
    return Outcome.delivered();
  }

  @Override
  public void close() {
    relay.close();
  }
}
