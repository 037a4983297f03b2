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
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pages whose parts show only when something is wrong, and acts on several messages. */
@Tag("OP-2")
@Timeout(240)
class FilledPagesTest {
  private static Desk desk;
  private static Rail rail;
  private static String admin = "";

  @BeforeAll
  static void open() {
    desk = Desk.pooled(server -> server);
    rail = new Rail(desk);
    admin = desk.token(NewToken.of("ann", Role.ADMIN).with(Permission.PAYLOAD_READ)).secret();
  }

  @AfterAll
  static void close() {
    rail.close();
    desk.close();
  }

  private static void dead(int count) {
    rail.is(Rail.State.REFUSES_REFUNDS);
    long before = open("null");
    for (int i = 0; i < count; i++) {
      desk.enqueue("'payments', 'receipts', event_type => 'refunded'");
    }
    await().atMost(Duration.ofSeconds(30)).until(() -> open("null") == before + count);
  }

  private static long open(String resolution) {
    return desk.postgres.count(
        "select count(*) from postrider.dead_letter where resolution is not distinct from "
            + resolution);
  }

  @Test
  void destinationsAndRetentionAreAccessibleWhenTheyAreFull() {
    dead(2);
    rail.is(Rail.State.DOWN);
    desk.enqueue("'payments', 'instructions', key => 'DE-1'");
    desk.postgres.execute(
        """
        select postrider.pause_on('ann', 'destination', 'rail', true);
        insert into postrider.retention (task, period, started_at, finished_at, failed_at, error, last_removed, removed)
        values ('messages', '30 days', now(), now(), null, null, 1234567, 123456789),
               ('attempts', '7 days', now(), now() - interval '3 days', now(),
                'ERROR: permission denied for table attempt_with_a_rather_long_name_that_does_not_break', 0, 12),
               ('chart_points', '30 minutes', now(), null, null, null, 0, 0)
        """);
    for (boolean dark : List.of(false, true)) {
      for (int width : List.of(1280, 390)) {
        try (Visit visit = Browser.signedIn(desk, admin, width, dark)) {
          visit.open("destinations");
          visit.sees("by ann since");
          visit.sees("http_422");
          visit.accessible();
          visit.picture("destinations-full-" + width + (dark ? "-dark" : ""));
          visit.open("retention");
          visit.sees("permission denied");
          visit.accessible();
          visit.picture("retention-full-" + width + (dark ? "-dark" : ""));
        }
      }
    }
    desk.postgres.execute(
        """
        select postrider.pause_off('ann', 'destination', 'rail');
        select postrider.discard_dead('ann', 'a test', '{"namespace": "payments"}', null, 100)
        """);
    rail.is(Rail.State.WORKS);
  }

  @Test
  void selectedOnesAreDiscardedTakenBackAndRequeued() {
    dead(3);
    try (Visit visit = Browser.signedIn(desk, admin).open("dead")) {
      Locator group =
          visit.page.locator("section", new Page.LocatorOptions().setHasText("payments/receipts"));
      rail.is(Rail.State.WORKS);
      group.getByText("Messages", new Locator.GetByTextOptions().setExact(true)).click();
      group.locator("tbody input[type=checkbox]").nth(0).check();
      group.locator("tbody input[type=checkbox]").nth(1).check();
      group.getByText("Discard selected…").click();
      visit.confirm("Discard 2", "a test");
      visit.sees("2 messages discarded.");
      visit.button("Undo").click();
      visit.sees("2 messages requeued.");
      await().atMost(Duration.ofSeconds(30)).until(() -> open("null") == 1);

      visit.page.reload();
      group.getByText("Messages", new Locator.GetByTextOptions().setExact(true)).click();
      group.locator("tbody input[type=checkbox]").nth(0).check();
      group.getByText("Requeue selected").click();
      assertThat(visit.dialog().textContent()).contains("./postrider dead requeue ");
      visit.confirm("Requeue 1");
      visit.sees("Nothing is dead");
    }
  }
}
