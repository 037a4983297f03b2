package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.server.Desk;
import java.nio.file.Files;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What operators do in the console, end to end, with a relay that delivers. */
@Tag("OP-2")
@Tag("CH-7")
@Timeout(180)
class ActsTest {
  private static Desk desk;
  private static Rail rail;
  private static String admin = "";

  @BeforeAll
  static void signUp() {
    desk = Desk.pooled(server -> server);
    rail = new Rail(desk);
    admin = desk.token(NewToken.of("ann", Role.ADMIN).with(Permission.PAYLOAD_READ)).secret();
  }

  @AfterAll
  static void close() {
    rail.close();
    desk.close();
  }

  /** Nothing is left of a test before, whatever became of it. */
  @BeforeEach
  void works() {
    rail.is(Rail.State.WORKS);
    desk.postgres.execute(
        """
        select postrider.pause_off('ann', 'destination', 'rail');
        select postrider.requeue_dead('ann', '{"namespace": "payments"}', null, 1000)
        """);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> desk.postgres.count("select count(*) from postrider.queue") == 0);
    assertThat(open()).isZero();
  }

  private static UUID receipt(String type) {
    return desk.enqueue("'payments', 'receipts', event_type => '" + type + "'");
  }

  /** So many receipts that are dead, of their own kind. */
  private static void dead(int count) {
    rail.is(Rail.State.REFUSES_REFUNDS);
    long before = open();
    for (int i = 0; i < count; i++) {
      receipt("refunded");
    }
    await().atMost(Duration.ofSeconds(30)).until(() -> open() == before + count);
  }

  private static long open() {
    return desk.postgres.count(
        "select count(*) from postrider.dead_letter where resolved_at is null");
  }

  private static void seen(Locator locator, String text) {
    PlaywrightAssertions.assertThat(locator)
        .containsText(
            text,
            new com.microsoft.playwright.assertions.LocatorAssertions.ContainsTextOptions()
                .setTimeout(15_000));
  }

  @Test
  void oneIsTriedThenAllFollowAndTheirProgressIsShown() {
    dead(3);
    try (Visit visit = Browser.signedIn(desk, admin).open("dead")) {
      visit.sees("Requeue all 3");
      visit.button("Try one first").click();
      visit.confirm("Requeue 1 message");
      seen(visit.page.locator(".tried"), "is dead again");
      seen(visit.page.locator(".tried"), "http_422");

      rail.is(Rail.State.WORKS);
      visit.sees("Requeue all 3");
      visit.button("Try one first").click();
      visit.confirm("Requeue 1 message");
      seen(visit.page.locator(".tried"), "The one that was tried is delivered");
      visit.accessible();

      visit.button("Requeue all 2").click();
      visit.confirm("Requeue 2");
      Locator run = visit.page.locator(".run");
      seen(run, "2 messages of payments/receipts requeued");
      seen(run, "2 delivered, none dead again.");
      visit.accessible();
      visit.picture("run");
      run.getByText("Close").click();
      PlaywrightAssertions.assertThat(run).hasCount(0);
      visit.sees("Nothing is dead");
    }
  }

  /** Only what was counted is requeued, and only that is followed. */
  @Test
  void whatDiesAgainWhileAllAreRequeuedIsLeft() {
    UUID stranger = receipt("delivered-before");
    dead(3);
    try (Visit visit = Browser.signedIn(desk, admin).open("dead")) {
      visit.sees("Requeue all 3");
      visit.button("Requeue all 3").click();
      visit.confirm("Requeue 3");
      Locator run = visit.page.locator(".run");
      seen(run, "3 messages of payments/receipts requeued");
      seen(run, "0 delivered, 3 dead again.");
      visit.sees("Requeue all 3");

      assertThat(desk.post(desk.admin, "/v1/replays", "{\"ids\": [\"" + stranger + "\"]}").status())
          .isBetween(200, 202);
      visit.until(
          "import('./live.js').then(file => file.live.outcomes.some(o => o.id === '%s' && o.delivery === 2))"
              .formatted(stranger));
      assertThat(
              visit.page.evaluate("import('./live.js').then(file => file.followed()[0].delivered)"))
          .isEqualTo(0);

      assertThat(
              desk.postgres.column(
                  """
                  select count || ' ' || (detail ? 'ids') || ' ' || (detail -> 'filter' ? 'fingerprint')
                    from postrider.audit where action = 'dead.requeue' order by id desc limit 1
                  """))
          .containsExactly("3 false true");

      rail.is(Rail.State.WORKS);
      visit.page.reload();
      visit.button("Requeue all 3").click();
      visit.confirm("Requeue 3");
      seen(run, "3 delivered, none dead again.");
      visit.sees("Nothing is dead");
    }
  }

  @Test
  void aDiscardIsUndone() {
    dead(1);
    UUID id =
        UUID.fromString(
            desk.postgres
                .column("select message_id from postrider.dead_letter where resolved_at is null")
                .get(0));
    rail.is(Rail.State.WORKS);
    try (Visit visit = Browser.signedIn(desk, admin).open("messages/" + id)) {
      visit.button("Discard…").click();
      visit.confirm("Discard 1 message", "a test");
      visit.sees("The message is discarded.");
      assertThat(open()).isZero();
      visit.accessible();
      visit.button("Undo").click();
      visit.sees("The message is on its way again.");
      seen(visit.page.locator(".timeline"), "delivery 2, try 1");
      seen(visit.page.locator(".timeline"), "dead.discard by ann");
      seen(visit.page.locator(".lead"), "delivered");
    }
  }

  @Test
  void aGroupIsDiscardedAndFoundAgain() {
    dead(3);
    try (Visit visit = Browser.signedIn(desk, admin).open("dead")) {
      visit.page.locator(".group-acts").getByText("Discard…").click();
      visit.confirm("Discard 3", "a test");
      visit.sees("3 messages discarded.");
      visit.sees("Nothing is dead");
      rail.is(Rail.State.WORKS);
      visit.open("messages?q=state%3Adiscarded+topic%3Areceipts");
      visit.until("document.querySelectorAll('main tr[data-row]').length === 3");
      assertThat(visit.page.locator("details.same code").textContent())
          .isEqualTo("./postrider dead list --topic receipts --discarded");
      visit.page.locator("main tr[data-row] a").first().click();
      visit.sees("It was discarded");
      visit.button("Requeue").click();
      visit.confirm("Requeue");
      seen(visit.page.locator(".lead"), "delivered");
    }
  }

  @Test
  void aSkipSaysWhatItLetsGo() {
    rail.is(Rail.State.REFUSES_REFUNDS);
    for (String type : new String[] {"refunded", "booked", "closed"}) {
      desk.enqueue("'payments', 'instructions', key => 'DE-1', event_type => '" + type + "'");
    }
    try (Visit visit = Browser.signedIn(desk, admin).open("keys")) {
      visit.sees("1 key, 2 messages behind");
      visit.button("Skip…").click();
      Locator followers = visit.page.locator(".followers li");
      followers.first().waitFor();
      assertThat(followers.allTextContents()).hasSize(2);
      seen(followers.nth(0), "booked");
      seen(followers.nth(1), "closed");
      assertThat(visit.dialog().textContent()).contains("./postrider keys skip payments DE-1");
      visit.accessible();
      visit.confirm("Skip 1 message", "a test");
      visit.sees("DE-1 goes on without it.");
      visit.sees("No key is blocked");
      visit.page.locator("label:has-text('Namespace') input").fill("payments");
      visit.page.locator("label:has-text('Key') input").fill("DE-1");
      visit.button("Show").click();
      visit.until("document.querySelectorAll('main tr[data-row]').length === 3");
    }
  }

  @Test
  void messagesAreReplayedOneByOneAndInJobs() {
    UUID id = receipt("once");
    for (int i = 0; i < 60; i++) {
      receipt("many");
    }
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> desk.postgres.count("select count(*) from postrider.queue") == 0);
    try (Visit visit = Browser.signedIn(desk, admin).expecting("409").open("messages/" + id)) {
      visit.button("Replay…").click();
      assertThat(visit.dialog().textContent()).contains("./postrider replay --id " + id + " --yes");
      visit.confirm("Replay 1 message");
      seen(visit.page.locator(".timeline"), "delivery 2, try 1");

      visit.open("replay");
      visit.page.locator("input[name=event_type]").fill("many");
      visit.page.locator("input[type=number]").fill("1");
      visit.button("Count first").click();
      seen(visit.page.locator("#counted"), "60 would be sent again");
      visit.button("Replay…").click();
      visit.confirm("Replay 60");
      Locator job =
          visit.page.locator("tr", new Page.LocatorOptions().setHasText("event_type:many"));
      job.getByText("Stop…").click();
      visit.confirm("Stop");
      seen(job, "stopped");
      job.getByText("Resume").click();
      visit.dialog().waitFor();
      // Refused until the job has noticed that it was stopped, which is at its next step.
      visit.until(
          "(b => !b || (!b.disabled && b.click()))(document.querySelector('dialog[open]"
              + " [type=submit]'))");
      seen(job, "running");
      job.getByText("Stop…").click();
      visit.confirm("Stop");
      seen(job, "stopped");
    }
  }

  @Test
  void theTailIsFilteredAndHeld() {
    try (Visit visit = Browser.signedIn(desk, admin).open("tail")) {
      receipt("first-one");
      visit.sees("first-one");
      Locator filter = visit.page.locator("input[type=search]");
      filter.fill("second-one");
      visit.sees("Nothing that matches came yet");
      assertThat(visit.page.url()).endsWith("#/tail?q=second-one");
      receipt("second-one");
      seen(visit.page.locator("tbody"), "second-one");
      assertThat(visit.page.locator("tbody").textContent()).doesNotContain("first-one");
      visit.button("Hold").click();
      receipt("second-one");
      visit.sees("Held. 1 newer not shown.");
      visit.accessible();
      visit.button("Go on").click();
      visit.until("document.querySelectorAll('main tr[data-row]').length === 2");
    }
  }

  @Test
  void ratesAreShownForTopicsRelaysAndDestinations() {
    try (Visit visit = Browser.signedIn(desk, admin).open("topics")) {
      String topic =
          "[...document.querySelectorAll('tr')].some(r => /payments.receipts[^]*[1-9]/.test(r.textContent))";
      receipt("rated");
      visit.until(topic);
      receipt("rated");
      visit.open("relays");
      visit.until("/relay-1[^]*ago *[0-9.]+.s/.test(document.querySelector('tbody')?.textContent)");
      visit.open("destinations");
      visit.sees("Last errors");
      visit.until("/Delivered *[0-9.]+.s/.test(document.querySelector('dl.facts')?.textContent)");
    }
  }

  @Test
  void aPauseIsUndone() {
    try (Visit visit = Browser.signedIn(desk, admin).open("destinations")) {
      visit.button("Pause…").click();
      assertThat(visit.dialog().textContent()).contains("./postrider pause destination rail");
      visit.confirm("Pause");
      visit.sees("Destination rail is paused.");
      visit.button("Resume").waitFor();
      visit.button("Undo").click();
      visit.sees("Destination rail goes on.");
      visit.button("Pause…").waitFor();
      visit.open("audit");
      visit.link("resume").first().click();
      visit.page.waitForURL("**/#/audit?action=resume");
      visit.until(
          "[...document.querySelectorAll('tbody tr')].every(r =>"
              + " r.textContent.includes('resume'))");
    }
  }

  @Test
  void pausesOfItsDestinationAreInTheTimeline() {
    dead(1);
    UUID id =
        UUID.fromString(
            desk.postgres
                .column("select message_id from postrider.dead_letter where resolved_at is null")
                .get(0));
    desk.postgres.execute(
        """
        select postrider.pause_on('ann', 'destination', 'rail', true);
        select postrider.pause_on('ann', 'destination', 'elsewhere', true);
        select postrider.pause_off('ann', 'destination', 'rail');
        select postrider.pause_off('ann', 'destination', 'elsewhere')
        """);
    try (Visit visit = Browser.signedIn(desk, admin).open("messages/" + id)) {
      visit.until("document.querySelectorAll('.timeline li.act').length === 2");
    } finally {
      rail.is(Rail.State.WORKS);
      desk.postgres.execute(
          "select postrider.requeue_dead('ann', '{\"namespace\": \"payments\"}', null, 9)");
    }
  }

  @Test
  void aPayloadIsCopiedAndDownloaded() throws Exception {
    UUID id = receipt("kept");
    try (Visit visit = Browser.signedIn(desk, admin).open("messages/" + id)) {
      visit.page.locator("button[aria-label='Copy the payload']").click();
      visit.sees("Copied");
      assertThat(visit.page.evaluate("navigator.clipboard.readText()"))
          .isEqualTo("{\n  \"n\": 1\n}");
      Download file = visit.page.waitForDownload(() -> visit.button("Download").click());
      assertThat(file.suggestedFilename()).isEqualTo(id + ".json");
      assertThat(Files.readString(file.path())).isEqualTo("{\n  \"n\": 1\n}");
    }
  }
}
