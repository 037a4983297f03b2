package dev.postrider.server.console;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
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
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Takes the pictures of docs/images, after a minute of traffic. Not part of the tests: run it with
 * {@code -Dtest=ConsolePictures -Dconsole.pictures=../docs/images}.
 */
class ConsolePictures {
  private static final int ROUNDS = 120;
  private static final double ROUND_MS = 500;
  private static final Random RANDOM = new Random(7);

  private static final String TRAFFIC =
      """
      select postrider.enqueue('shop', (array['orders', 'orders', 'payments', 'mails'])[1 + n %% 4],
               format('{"customer": "customer-%%s", "amount": %%s, "reference": 9007199254740993123,
                 "lines": [{"sku": "A-17", "count": 2}, {"sku": "B-3", "count": 1}]}',
                 n %% 12, 100 + n %% 90),
               key => 'customer-' || n %% 12, event_type => (array['placed', 'shipped', 'refunded'])[1 + n %% 3],
               aggregate_type => 'order', aggregate_id => 'o-' || n %% 40, tenant => 'demo',
               headers => '{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}')
        from generate_series(%d, %d) n
      """;

  private static Outcome bank(Message message) {
    if (Objects.equals(message.eventType(), "refunded") && RANDOM.nextInt(60) == 0) {
      return Outcome.terminal(
          "http_422", ErrorReport.of("HTTP 422", "{\"error\": \"unknown field: reason\"}"));
    }
    return RANDOM.nextInt(8) == 0 ? Outcome.retryable("http_503", "HTTP 503") : Outcome.delivered();
  }

  private static Outcome mail(Message message) {
    return RANDOM.nextInt(25) == 0
        ? Outcome.terminal("bad_address", "550 no such mailbox " + message.id())
        : Outcome.delivered();
  }

  private static Relay relay(Desk desk) {
    RouteOptions blocking =
        RouteOptions.DEFAULT.withRetry(
            new RetryPolicy(
                new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(5), 0),
                10,
                RetryPolicy.DeadPolicy.BLOCK));
    return Relay.builder(desk.postgres.dataSource())
        .config(RelayConfig.defaults().withName("relay-1"))
        .destination("rabbit", HandlerDestination.of(4, message -> Outcome.delivered()))
        .destination("bank", HandlerDestination.of(4, ConsolePictures::bank))
        .destination("mail", HandlerDestination.of(4, ConsolePictures::mail))
        .route("shop", "orders", "rabbit")
        .route("shop", "payments", "bank", blocking)
        .route("shop", "mails", "mail")
        .build()
        .start();
  }

  /** One after the other, so that both show the same. */
  private static void inBothColours(Visit visit, String name) {
    visit.picture(name + "-light");
    visit.button("Dark").click();
    visit.picture(name + "-dark");
    visit.button("Light").click();
  }

  @Test
  void take() {
    try (Desk desk = Desk.pooled(server -> server);
        Relay relay = relay(desk)) {
      String admin =
          desk.token(NewToken.of("ann", Role.ADMIN).with(Permission.PAYLOAD_READ)).secret();
      try (Visit watcher = Browser.signedIn(desk, admin)) {
        int sent = 0;
        for (int i = 0; i < ROUNDS; i++) {
          int more = 4 + RANDOM.nextInt(8);
          desk.postgres.execute(TRAFFIC.formatted(sent, sent + more));
          sent += more;
          watcher.page.waitForTimeout(ROUND_MS);
        }
        String waiting =
            desk.postgres
                .column(
                    "select q.id from postrider.queue q join postrider.queue h on h.key_id ="
                        + " q.key_id and h.blocked and h.sequence < q.sequence limit 1")
                .get(0);
        try (Visit visit = Browser.signedIn(desk, admin)) {
          visit.page.waitForSelector(".plot canvas");
          visit.until("document.querySelector('.plot').ariaLabel.includes('enqueued')");
          inBothColours(visit, "overview");
          visit.open("messages/" + waiting);
          visit.page.waitForSelector("#why .reason");
          visit.page.waitForSelector("section[aria-label^=Neighbours]");
          inBothColours(visit, "message");
          visit.open("dead");
          visit.sees("groups by topic");
          inBothColours(visit, "dead");
        }
      }
      System.out.println(relay.status());
    }
  }
}
