package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.server.Desk;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The incident of docs/operating.md, from the alert to its end, in the console alone. */
@Tag("OP-2")
@Tag("OP-10")
@Tag("CH-7")
@Timeout(300)
class IncidentTest {
  private static final int KEYS = 5;
  private static final int DEATHS = 11;

  private static void send(Desk desk, String type, int each) {
    desk.postgres.execute(
        """
        select postrider.enqueue('payments', 'instructions', '{"amount": 375}',
                 key => 'DE-' || 4700 + k, event_type => '%s')
          from generate_series(1, %d) n, generate_series(1, %d) k
        """
            .formatted(type, each, KEYS));
  }

  @Test
  void fromTheAlertToTheEnd() {
    try (Desk desk = Desk.pooled(server -> server);
        Rail rail = new Rail(desk)) {
      String operator =
          desk.token(NewToken.of("ann", Role.OPERATOR).with(Permission.PAYLOAD_READ)).secret();
      try (Visit visit = Browser.signedIn(desk, operator)) {
        visit.sees("All is well");

        rail.is(Rail.State.DOWN);
        send(desk, "booked", 3);
        Locator down =
            visit.page.locator(
                ".problem.bad", new Page.LocatorOptions().setHasText("Destination rail is down"));
        down.waitFor();
        visit.until(
            "/1[0-5] messages wait/.test(document.querySelector('.problem.bad').textContent)");
        assertThat(down.textContent()).containsPattern("next probe is in|being probed now");
        visit.picture("incident-down");
        visit.open("messages?q=state%3Apending");
        visit.page.locator("main tr[data-row] a").first().click();
        visit.sees("Destination rail does not answer: its breaker is open");

        visit.open("");
        rail.is(Rail.State.REFUSES_REFUNDS);
        send(desk, "refunded", 1);
        send(desk, "booked", 2);
        visit.sees("5 keys are blocked");
        visit.sees("5 dead letters");
        visit.until("!document.body.textContent.includes('is down since')");

        visit.page.locator(".problem a.button").getByText("Dead letters").click();
        visit.sees("unknown field: reason");
        visit.sees("5 block their keys");
        visit.picture("incident-dead");
        visit.link("newest example").click();
        visit.sees("amount");
        visit.sees("http_422");

        visit.open("destinations");
        visit.button("Pause…").click();
        visit.confirm("Pause");
        visit.sees("paused");

        rail.is(Rail.State.WORKS);
        visit.button("Resume").click();
        visit.confirm("Resume");
        visit.open("keys");
        Locator rows = visit.page.locator("section[aria-label^=Blocked] tr[data-row]");
        rows.first().waitFor();
        assertThat(rows.count()).isEqualTo(KEYS);
        assertThat(rows.first().textContent()).contains("http_422");
        rows.first().getByText("Retry").click();
        visit.confirm("Retry");
        visit.until(
            "document.querySelectorAll('section[aria-label^=Blocked] tr[data-row]').length === 4");
        visit.open("tail");

        visit.open("dead");
        visit.page.getByText("Requeue all 4").click();
        visit.confirm("Requeue 4");
        visit.sees("4 messages requeued.");
        visit.sees("Nothing is dead");
        visit.open("");
        visit.sees("All is well");
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> desk.postgres.count("select count(*) from postrider.queue") == 0);

        visit.open("messages?q=type%3Arefunded");
        visit.page.locator("main tr[data-row] a").first().click();
        Locator timeline = visit.page.locator(".timeline");
        timeline.getByText("delivery 2, try 1").waitFor();
        assertThat(timeline.textContent()).contains("dead", "http_422", "delivered");
        visit.picture("incident-message");
      }
    }
  }

  /** Reports the time and does not judge it: a busy machine is slow. The goal is under a second. */
  @Test
  void aDeathIsShownWithoutAReload() {
    try (Desk desk = Desk.pooled(server -> server);
        Rail rail = new Rail(desk);
        Visit visit = Browser.signedIn(desk, desk.viewer).open("dead")) {
      rail.is(Rail.State.REFUSES_REFUNDS);
      visit.sees("Nothing is dead");
      visit.page.evaluate(
          """
          window.shown = [];
          new MutationObserver(() => {
            const count = document.getElementById('dead-count');
            const dead = count ? parseInt(count.textContent, 10) : 0;
            while (window.shown.length < dead) window.shown.push(Date.now());
          }).observe(document.body, {childList: true, characterData: true, subtree: true})
          """);
      List<Long> millis = new ArrayList<>();
      for (int i = 0; i < DEATHS; i++) {
        desk.enqueue("'payments', 'instructions', event_type => 'refunded'");
        visit.until("window.shown.length > " + i);
        long died =
            desk.postgres.count(
                "select (extract(epoch from max(died_at)) * 1000)::bigint from postrider.dead_letter");
        long shown = ((Number) visit.page.evaluate("window.shown[" + i + "]")).longValue();
        millis.add(shown - died);
      }
      Collections.sort(millis);
      System.out.printf(
          "from the death of a message to its display: median %d ms, longest %d ms of %d%n",
          millis.get(DEATHS / 2), millis.get(DEATHS - 1), DEATHS);
    }
  }
}
