package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RouteOptions;
import dev.postrider.server.Desk;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A topic with two subscriptions, of which one does not take the message. */
@Tag("OP-2")
@Timeout(120)
class SubscriptionsShownTest {
  private static final Page.GetByTextOptions EXACTLY = new Page.GetByTextOptions().setExact(true);

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

  /** What is done to the deliveries of one subscription leaves those of the other. */
  @Test
  void oneIsPausedAndItsDeadLettersAndKeysAreTakenCareOf() {
    AtomicBoolean works = new AtomicBoolean();
    RetryPolicy blocks = RetryPolicy.DEFAULT.withOnDead(RetryPolicy.DeadPolicy.BLOCK);
    try (Desk desk = Desk.pooled(server -> server);
        Relay relay =
            Relay.builder(desk.postgres.dataSource())
                .destination("kafka", HandlerDestination.of(1, message -> Outcome.delivered()))
                .destination(
                    "mail",
                    HandlerDestination.of(
                        1,
                        message ->
                            works.get()
                                ? Outcome.delivered()
                                : Outcome.terminal("bad_address", "no such mailbox")))
                .route("shop", "orders", "kafka")
                .subscription(
                    "shop", "orders", "mail", "mail", RouteOptions.DEFAULT.withRetry(blocks))
                .build()
                .start();
        Visit visit = Browser.signedIn(desk, desk.operator)) {
      assertThat(relay.status()).isNotNull();
      for (int i = 0; i < 4; i++) {
        desk.enqueue("'shop', 'orders'");
      }
      visit.open("dead");
      visit.sees("Requeue all 4");
      visit.page.getByText("Messages", EXACTLY).last().click();
      Locator boxes = visit.page.locator("tbody input[type=checkbox]");
      boxes.nth(0).check();
      boxes.nth(1).check();
      visit.button("Discard selected…").click();
      assertThat(visit.dialog().textContent()).contains(" --subscription mail --reason ");
      visit.confirm("Discard 2", "a test");
      visit.sees("2 messages discarded.");
      works.set(true);
      visit.sees("Requeue all 2");
      boxes.nth(0).check();
      visit.button("Requeue selected").click();
      assertThat(visit.dialog().textContent()).contains(" --subscription mail --yes");
      visit.confirm("Requeue 1");
      visit.sees("1 message requeued.");
      visit.button("Requeue 1").click();
      visit.confirm("Requeue 1");
      visit.sees("Nothing is dead");

      works.set(false);
      for (String key : List.of("ann", "bob")) {
        desk.enqueue("'shop', 'orders', key => '" + key + "'");
        desk.enqueue("'shop', 'orders', key => '" + key + "'");
      }
      visit.open("keys");
      visit.sees("2 keys, 2 messages behind");
      works.set(true);
      Locator row = visit.page.locator("tr[data-row]");
      row.filter(new Locator.FilterOptions().setHasText("ann")).getByText("Retry").click();
      assertThat(visit.dialog().textContent())
          .contains("keys retry shop ann --topic orders --subscription mail");
      visit.confirm("Retry");
      visit.sees("ann: the first message is tried again.");
      row.filter(new Locator.FilterOptions().setHasText("bob")).getByText("Skip…").click();
      assertThat(visit.dialog().textContent())
          .contains("keys skip shop bob --topic orders --subscription mail");
      visit.confirm("Skip 1 message", "a test");
      visit.sees("No key is blocked");

      works.set(false);
      desk.enqueue("'shop', 'orders'");
      visit.open("topics");
      Locator mail = row.filter(new Locator.FilterOptions().setHasText("shop/orders#mail"));
      mail.getByText("Pause…").click();
      assertThat(visit.dialog().textContent())
          .contains("./postrider pause subscription 'shop/orders#mail'");
      visit.confirm("Pause");
      visit.sees("shop/orders#mail is paused.");
      mail.getByText("Resume").click();
      visit.confirm("Resume");
      visit.sees("shop/orders#mail goes on.");
      await()
          .untilAsserted(
              () ->
                  assertThat(
                          desk.postgres.column(
                              "select state || ' ' || count(*) from postrider.attempt_history"
                                  + " where subscription = '' group by state"))
                      .as("nobody sent again what the other one has")
                      .containsExactly("DISPATCHED 9"));
    }
  }
}
