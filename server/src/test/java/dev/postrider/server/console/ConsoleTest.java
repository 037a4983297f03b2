package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.postrider.access.CreatedToken;
import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.access.Scope;
import dev.postrider.server.Desk;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The console in a real browser: every page, what it does, and what it keeps from whom. */
@Tag("OP-2")
@Timeout(300)
class ConsoleTest {
  private static Desk desk;
  private static String admin = "";

  /** Something for every page, and nobody who delivers it. */
  @BeforeAll
  static void fill() {
    desk = Desk.pooled(server -> server);
    admin = desk.token(NewToken.of("ann", Role.ADMIN).with(Permission.PAYLOAD_READ)).secret();
    desk.enqueue("'shop', 'orders', key => 'customer-1', event_type => 'placed'");
    desk.carry(1, "");
    for (int i = 0; i < 3; i++) {
      desk.enqueue("'shop', 'mails', event_type => 'welcome'");
    }
    desk.carry(3, "bad_address");
    desk.enqueue("'bank', 'payments', key => 'DE-1', tenant => 'acme'");
    desk.carry(4, "http_422");
    desk.enqueue("'bank', 'payments', key => 'DE-1', tenant => 'acme'");
    desk.enqueue("'shop', 'orders', key => 'customer-2'");
  }

  @AfterAll
  static void close() {
    desk.close();
  }

  private static final List<String> PAGES =
      List.of(
          "",
          "messages",
          "dead",
          "keys",
          "replay",
          "tail",
          "relays",
          "destinations",
          "topics",
          "audit",
          "tokens",
          "retention");

  private static String id(String condition) {
    return desk.postgres
        .column("select id from postrider.message_state where " + condition + " order by id")
        .get(0);
  }

  @Test
  void everyPageIsAccessibleOnWideAndNarrowScreensInLightAndDark() {
    for (boolean dark : List.of(false, true)) {
      for (int width : List.of(1280, 390)) {
        try (Visit visit = Browser.signedIn(desk, admin, width, dark)) {
          for (String path : PAGES) {
            visit.open(path);
            visit.page.waitForSelector("main h1");
            visit.until(
                "(main => main && !main.textContent.includes('Loading…'))(document.querySelector('main'))");
            visit.accessible();
            visit.picture(
                (path.isEmpty() ? "overview" : path) + "-" + width + (dark ? "-dark" : ""));
          }
          visit.open("messages/" + id("state = 'pending'"));
          visit.page.waitForSelector("#why .reason");
          visit.accessible();
          visit.picture("message-" + width + (dark ? "-dark" : ""));
        }
      }
    }
  }

  @Test
  void signInWithATokenAndOutAgain() {
    try (Visit visit = Browser.visit(desk, 1280, false).expecting("401")) {
      visit.open("dead");
      Locator token = visit.page.locator("input[name=token]");
      token.fill("postrider_1_wrong");
      token.press("Enter");
      visit.sees("not known");
      visit.accessible();
      token.fill(desk.viewer);
      token.press("Enter");
      visit.page.waitForSelector("#nav");
      visit.sees("bad_address");
      assertThat(visit.page.evaluate("document.cookie")).isEqualTo("");
      assertThat(
              visit.page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"))
          .asString()
          .doesNotContain("postrider_");
      visit.page.reload();
      visit.page.waitForSelector("#nav");
      visit.button("Sign out").click();
      visit.sees("You are signed out");
      visit.page.reload();
      visit.page.waitForSelector("input[name=token]");
    }
  }

  @Test
  void aTokenThatIsRevokedEndsTheSession() throws Exception {
    CreatedToken token = desk.token(NewToken.of(Desk.name("short"), Role.VIEWER));
    try (Visit visit = Browser.signedIn(desk, token.secret()).expecting("401")) {
      desk.tokens.revoke("tests", token.id());
      visit.open("audit");
      visit.sees("The session has ended");
    }
  }

  /** The courier that carries for tests is a worker as well, and not seen any more. */
  private static void nobodyCarries() {
    desk.postgres.execute("update postrider.worker set seen_at = now() - interval '1 hour'");
  }

  @Test
  void theOverviewSaysWhatIsWrong() {
    nobodyCarries();
    try (Visit visit = Browser.signedIn(desk, admin)) {
      Locator problems = visit.page.locator(".problems");
      problems.getByText("No relay runs").waitFor();
      assertThat(problems.textContent())
          .containsPattern("DE-1 since \\d\\d:\\d\\d:\\d\\d with \\d behind")
          .contains("1 key is blocked", "dead letters", "./postrider keys list");
      assertThat(visit.page.locator(".plot canvas").count()).isEqualTo(4);
      visit.until("document.querySelector('.plot').ariaLabel.includes('enqueued 0')");
    }
  }

  @Test
  void aQueryCompletesAndLivesInTheAddress() {
    try (Visit visit = Browser.signedIn(desk, admin)) {
      visit.page.keyboard().press("/");
      Locator line = visit.page.locator("#query");
      line.waitFor();
      visit.until("document.activeElement.id === 'query'");
      line.pressSequentially("na");
      line.press("Tab");
      line.pressSequentially("sh");
      line.press("Tab");
      line.pressSequentially("type:placed");
      line.press("Enter");
      visit.page.waitForURL(Pattern.compile(".*namespace%3Ashop.*type%3Aplaced.*"));
      Locator rows = visit.page.locator("main tr[data-row]");
      visit.until("document.querySelectorAll('main tr[data-row]').length === 1");
      visit.page.reload();
      rows.first().waitFor();
      assertThat(line.inputValue()).isEqualTo("namespace:shop type:placed");
      visit.page.locator("main h1").click();
      visit.page.keyboard().press("j");
      visit.page.keyboard().press("Enter");
      visit.page.waitForURL("**/messages/*");
      visit.sees("What happened");
      visit.open("messages?q=colour%3Ared");
      visit.sees("colour:red: expected namespace:");
      visit.open("messages?q=state%3Adead+code%3Abad_address");
      visit.until("document.querySelectorAll('main tr[data-row]').length === 3");
      assertThat(visit.page.locator("details.same code").textContent())
          .isEqualTo("./postrider dead list --code bad_address");
    }
  }

  @Test
  void quotesAndSpacesInKeysAreFound() {
    desk.enqueue("'quoted', 'q', key => 'a \"b\" \\c'");
    try (Visit visit = Browser.signedIn(desk, admin).open("keys")) {
      visit.page.locator("label:has-text('Namespace') input").fill("quoted");
      visit.page.locator("label:has-text('Key') input").fill("a \"b\" \\c");
      visit.button("Show").click();
      visit.until("document.querySelectorAll('main tr[data-row]').length === 1");
      assertThat(visit.page.locator("#query").inputValue())
          .isEqualTo("namespace:quoted key:\"a \\\"b\\\" \\\\c\"");
      visit.open("messages?q=state%3Apending+namespace%3Aquoted+since%3A2h");
      visit.until("document.querySelectorAll('main tr[data-row]').length === 1");
      assertThat(visit.page.locator("details.same code").textContent())
          .isEqualTo("./postrider messages search --namespace quoted --state pending --from 2h");
    } finally {
      desk.carry(1, "");
    }
  }

  @Test
  void theTimeUntilNothingWaitsComesFromWhatLeavesAndWhatComesIn() {
    // Time, enqueued, delivered, retried, dead, pending: an estimate that jumps and tells nothing.
    String points =
        "Array.from({length: 20}, (x, i) => [i * 2000, 10, %d, 5, 1, i %% 2 ? 50000 : 40000])";
    try (Visit visit = Browser.signedIn(desk, admin)) {
      String eta = "import('./overview.js').then(file => file.eta(" + points + "))";
      assertThat(visit.page.evaluate(eta.formatted(109))).isEqualTo("empty in about 8m 20s");
      assertThat(visit.page.evaluate(eta.formatted(9))).isEqualTo("steady");
      assertThat(visit.page.evaluate(eta.formatted(0))).isEqualTo("growing");
    }
  }

  @Test
  void pagesOfMessagesFollowEachOther() {
    desk.postgres.execute(
        "select postrider.enqueue('bulk', 'many', '{}') from generate_series(1, 120)");
    try (Visit visit = Browser.signedIn(desk, admin).open("messages?q=topic%3Amany")) {
      visit.until("document.querySelectorAll('main tr[data-row]').length === 50");
      visit.page.locator("#older").click();
      visit.page.waitForURL("**cursor=*");
      visit.page.locator("#older").click();
      visit.until("document.querySelectorAll('main tr[data-row]').length === 20");
      visit.button("Newer").click();
      visit.until("document.querySelectorAll('main tr[data-row]').length === 50");
    } finally {
      desk.postgres.execute(
          "delete from postrider.queue q using postrider.message m, postrider.route r"
              + " where m.id = q.id and r.id = m.route and r.namespace = 'bulk'");
    }
  }

  @Test
  @Tag("OP-10")
  void aMessageShowsEverythingAboutIt() {
    nobodyCarries();
    UUID id =
        UUID.fromString(
            desk.postgres
                .column(
                    """
                    select id from postrider.enqueue('bank', 'payments',
                      '{"amount": 9007199254740993123, "note": "<b>not bold</b><img src=x onerror=alert(1)>"}',
                      key => 'DE-1', headers => '{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}')
                    """)
                .get(0));
    try (Visit visit = Browser.signedIn(desk, admin).open("messages/" + id)) {
      visit.sees("No relay runs.");
      visit.sees("It waits behind message");
      visit.sees("It is dead since");
      visit.sees("9007199254740993123");
      visit.sees("<b>not bold</b><img src=x onerror=alert(1)>");
      assertThat(visit.page.locator("main img").count()).isZero();
      visit.sees("4bf92f3577b34da6a3ce929d0e0e4736");
      visit.sees("./postrider messages why " + id);
      assertThat(visit.page.locator("section[aria-label^=Neighbours] tr[data-row]").count())
          .isEqualTo(3);
      visit
          .page
          .getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Show it"))
          .first()
          .click();
      visit.sees("http_422");
    }
    try (Visit visit = Browser.signedIn(desk, desk.operator).open("messages/" + id)) {
      visit.sees("permission payload:read");
      visit.seesNot("9007199254740993123");
    }
  }

  @Test
  @Tag("CH-7")
  void deadLettersAreRequeuedAndDiscardedOneSomeAndAll() {
    for (int i = 0; i < 6; i++) {
      desk.enqueue("'dead', 'letters', event_type => 'e" + i + "'");
    }
    desk.carry(3, "broken");
    try (Visit visit = Browser.signedIn(desk, desk.operator).open("dead")) {
      Locator group =
          visit.page.locator("section", new Page.LocatorOptions().setHasText("dead/letters"));
      group.getByText("Try one first").click();
      assertThat(visit.dialog().textContent()).contains("./postrider dead requeue ");
      visit.confirm("Requeue 1 message");
      visit.sees("The message is on its way again.");
      group.getByText("Requeue all 5").waitFor();

      group.getByText("Messages", new Locator.GetByTextOptions().setExact(true)).click();
      group.locator("tbody input[type=checkbox]").nth(0).check();
      group.locator("tbody input[type=checkbox]").nth(1).check();
      group.getByText("Discard selected…").click();
      visit.confirm("Discard 2", "test data");
      visit.sees("2 messages discarded.");
      group.getByText("Requeue all 3").waitFor();

      group.locator("tbody").getByText("Discard…").first().click();
      visit.dialog().getByText("Cancel").click();
      group.getByText("Requeue all 3").click();
      assertThat(visit.dialog().textContent())
          .containsPattern(
              "--namespace dead --topic letters --code broken --fingerprint [0-9a-fs]{12,13} --to"
                  + " \\S+Z --yes");
      visit.accessible();
      visit.confirm("Requeue 3");
      visit.sees("3 messages requeued.");
      group.waitFor(
          new Locator.WaitForOptions()
              .setState(com.microsoft.playwright.options.WaitForSelectorState.DETACHED));
    }
    assertThat(
            desk.postgres.column(
                """
                select action || ' ' || count || ' ' || split_part(actor, ' ', 1) from postrider.audit
                 where action like 'dead.%' order by id desc limit 3
                """))
        .allMatch(act -> act.matches("dead.(requeue 3|discard 2|requeue 1) operator-\\d+"));
    desk.carry(1, "");
  }

  @Test
  void rowsGoByTheirKindOfError() {
    desk.postgres.execute(
        """
        do $$ declare v uuid; begin
          for i in 1..4 loop
            select id into v from postrider.enqueue('kinds', 'k', '{}');
            insert into postrider.dead_letter (message_id, delivery, route, attempts, died_at, code, error)
            select v, 1, r.id, 1, now(), 'http_500',
                   case when i < 4 then 'order ' || i || ' is locked' else 'disk full' end
              from postrider.route r where r.namespace = 'kinds';
            delete from postrider.queue where id = v;
          end loop;
        end $$
        """);
    try (Visit visit = Browser.signedIn(desk, admin).open("dead")) {
      Locator locked =
          visit.page.locator("section", new Page.LocatorOptions().setHasText("is locked"));
      locked.getByText("Requeue all 3").click();
      assertThat(visit.dialog().textContent()).contains("--code http_500 --fingerprint ");
      visit.confirm("Requeue 3");
      visit.sees("3 messages requeued.");
      visit.sees("disk full");
      visit.open("audit");
      visit.sees("fingerprint");
      visit.accessible();
    }
    assertThat(
            desk.postgres.column(
                "select error from postrider.dead_letter d join postrider.route r"
                    + " on r.id = d.route where r.namespace = 'kinds' and d.resolved_at is null"))
        .containsExactly("disk full");
    desk.carry(1, "");
  }

  @Test
  void topicsArePausedAndReplaysRun() {
    try (Visit visit = Browser.signedIn(desk, admin).open("topics")) {
      Locator row = visit.page.locator("tr", new Page.LocatorOptions().setHasText("bank/payments"));
      row.getByText("Pause…").click();
      assertThat(visit.dialog().textContent()).contains("./postrider pause topic bank/payments");
      visit.confirm("Pause");
      row.getByText("Resume").click();
      visit.confirm("Resume");
      row.getByText("Pause…").waitFor();

      visit.open("replay");
      visit.page.locator("input[name=namespace]").fill("shop");
      visit.page.locator("input[name=event_type]").fill("placed");
      visit.button("Count first").click();
      Locator counted = visit.page.locator("#counted");
      counted.waitFor();
      assertThat(counted.textContent()).contains("1 would be sent again");
      visit.button("Replay…").click();
      visit.confirm("Replay 1");
      visit
          .page
          .locator("tr", new Page.LocatorOptions().setHasText("event_type:placed"))
          .getByText("done")
          .waitFor();
      visit.open("audit");
      visit.sees("replay.done");
    }
  }

  @Test
  void tokensAreMadeAndRevoked() {
    try (Visit visit = Browser.signedIn(desk, admin).open("tokens")) {
      visit.page.locator("input[name=name]").fill("night shift");
      visit.button("Create token").click();
      Locator secret = visit.page.locator("#secret");
      secret.waitFor();
      assertThat(desk.get(secret.textContent(), "/v1/status").status()).isEqualTo(200);
      Locator row = visit.page.locator("tr", new Page.LocatorOptions().setHasText("night shift"));
      row.getByText("Revoke…").click();
      visit.confirm("Revoke 1 token");
      row.getByText("revoked").waitFor();
      assertThat(desk.get(secret.textContent(), "/v1/status").status()).isEqualTo(401);
    }
  }

  @Test
  @Tag("OP-3")
  void eachRoleSeesWhatItMayDo() {
    try (Visit visit = Browser.signedIn(desk, desk.viewer).open("dead")) {
      visit.sees("bad_address");
      assertThat(visit.page.locator("main button").getByText("Requeue").count()).isZero();
      assertThat(visit.link("Tokens").count()).isZero();
      visit.open("topics");
      visit.sees("bank/payments");
      assertThat(visit.page.getByText("Pause…").count()).isZero();
      visit.open("keys");
      visit.sees("DE-1");
      assertThat(visit.button("Retry").count()).isZero();
      visit.open("replay");
      visit.sees("Jobs");
      assertThat(visit.button("Count first").count()).isZero();
    }
    String tenant =
        desk.token(NewToken.of(Desk.name("acme"), Role.OPERATOR).within(Scope.tenant("acme")))
            .secret();
    try (Visit visit = Browser.signedIn(desk, tenant).open("dead")) {
      visit.sees("bank/payments");
      visit.seesNot("shop/mails");
      assertThat(visit.page.locator("#nav a").allTextContents().stream().map(String::strip))
          .containsExactly("Messages", "Dead letters");
    }
    String scraper = desk.token(NewToken.of(Desk.name("scraper"), Permission.METRICS)).secret();
    try (Visit visit = Browser.signedIn(desk, scraper)) {
      visit.sees("does not have the permission read");
    }
  }

  @Test
  void theKeyboardIsEnough() {
    try (Visit visit = Browser.signedIn(desk, admin)) {
      visit.page.keyboard().press("?");
      visit.dialog().waitFor();
      visit.accessible();
      visit.page.keyboard().press("Escape");
      visit.page.keyboard().press("g");
      visit.page.keyboard().press("k");
      visit.sees("Blocked by a dead message");
      visit.page.locator("main tr[data-row]").first().waitFor();
      visit.page.keyboard().press("j");
      visit.page.keyboard().press("r");
      assertThat(visit.dialog().textContent()).contains("./postrider keys retry bank DE-1");
      visit.page.keyboard().press("Escape");
      visit
          .dialog()
          .waitFor(
              new Locator.WaitForOptions()
                  .setState(com.microsoft.playwright.options.WaitForSelectorState.DETACHED));
      assertThat(visit.page.evaluate("document.activeElement.tagName")).isEqualTo("TR");
    }
  }

  @Test
  void theFirstLoadIsSmall() {
    try (Visit visit = Browser.signedIn(desk, desk.viewer)) {
      visit.page.waitForSelector(".plot canvas");
      Object sizes =
          visit.page.evaluate(
              """
              ['encodedBodySize', 'decodedBodySize'].map(size =>
                [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
                  .filter(entry => entry.name.includes('/console/'))
                  .reduce((sum, entry) => sum + entry[size], 0))
              """);
      List<?> bytes = (List<?>) sizes;
      System.out.println("first load: " + bytes.get(0) + " bytes, unpacked " + bytes.get(1));
      assertThat(((Number) bytes.get(1)).longValue()).isBetween(100_000L, 200_000L);
    }
  }
}
