package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.server.Desk;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A topic with two subscriptions, of which one does not take the message. */
@Tag("OP-2")
@Timeout(120)
class SubscriptionsShownTest {
  @Test
  void aMessageHasALineForEachSubscription() {
    try (Desk desk = Desk.pooled(server -> server);
        Relay relay =
            Relay.builder(desk.postgres.dataSource())
                .destination("kafka", HandlerDestination.of(1, message -> Outcome.delivered()))
                .destination(
                    "mail",
                    HandlerDestination.of(
                        1, message -> Outcome.terminal("bad_address", "no such mailbox")))
                .route("shop", "orders", "kafka")
                .subscription("shop", "orders", "mail", "mail")
                .build()
                .start();
        Visit visit = Browser.signedIn(desk, desk.viewer)) {
      assertThat(relay.status()).isNotNull();
      UUID id = desk.enqueue("'shop', 'orders'");
      visit.sees("All of topic shop/orders#mail.");
      visit.open("messages/" + id);
      Locator lines = visit.page.locator("section[aria-label=Deliveries] tr[data-row]");
      lines.first().waitFor();
      visit.until(
          "document.querySelector('section[aria-label=Deliveries]').textContent.includes('delivered')");
      assertThat(lines.allTextContents().get(0)).contains("default", "delivered");
      assertThat(lines.allTextContents().get(1)).contains("mail", "dead", "bad_address");
      visit.accessible();
      visit.open("dead");
      visit.sees("shop/orders#mail");
      visit.open("topics");
      visit.sees("shop/orders#mail");
    }
  }
}
