package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.server.Desk;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Hostile text, and much of everything: the pages stay whole and small. */
@Tag("OP-2")
@Timeout(180)
class AbuseTest {
  private static Desk desk;
  private static String admin = "";

  @BeforeAll
  static void signUp() {
    desk = Desk.pooled(server -> server);
    admin = desk.token(NewToken.of("ann", Role.ADMIN).with(Permission.PAYLOAD_READ)).secret();
  }

  @AfterAll
  static void close() {
    desk.close();
  }

  /** Markup, the other direction of writing, emoji, and no place to break a line. */
  private static final String HOSTILE =
      "<img src=x onerror=window.hacked=1>\u202Eevil\u202C\u05E9\u05DC\u05D5\u05DD \uD83D\uDC80";

  private static void enqueueHostile(String topic) {
    desk.postgres.execute(
        """
        select postrider.enqueue('hostile', '%1$s', jsonb_build_object('%2$s', '%2$s')::text,
                 key => '%2$s' || repeat('W', 150), event_type => '%2$s' || repeat('W', 60), tenant => 'x',
                 headers => jsonb_build_object('x-hostile', '%2$s' || repeat('W', 500)))
          from generate_series(1, 2)
        """
            .formatted(topic, HOSTILE));
  }

  @Test
  void hostileTextIsText() {
    String topic = "W".repeat(80);
    enqueueHostile(topic);
    desk.carry(4, "code-" + "W".repeat(50));
    String id = desk.postgres.column("select id from postrider.message limit 1").get(0);
    for (int width : List.of(1280, 390)) {
      try (Visit visit = Browser.signedIn(desk, admin, width, false)) {
        for (String path : List.of("", "messages", "messages/" + id, "dead", "keys", "topics")) {
          visit.open(path);
          visit.sees("WWWW");
          visit.accessible();
          visit.picture("hostile-" + path.replaceAll("/.*", "") + "-" + width);
          assertThat(visit.page.locator("main img").count()).isZero();
          assertThat(visit.page.evaluate("window.hacked === undefined")).isEqualTo(true);
        }
        visit.open("keys");
        visit.button("Retry").first().click();
        visit.page.waitForSelector("dialog[open]");
        visit.accessible();
      }
    }
  }

  @Test
  void aBigPayloadIsFoldedAndCut() {
    String id =
        desk.postgres
            .column(
                """
                select id from postrider.enqueue('big', 'payloads',
                  '[' || repeat('[' || repeat('[1,2,3,4,5,6,7,8,9],', 199) || '0],', 199) || '"'
                    || repeat('x', 100000) || '"]')
                """)
            .get(0);
    try (Visit visit = Browser.signedIn(desk, admin).open("messages/" + id)) {
      visit.page.locator(".payload summary").first().waitFor();
      assertThat(nodes(visit, ".payload")).isLessThan(3_000);
      visit.sees("more characters; download it to see them");
      visit.button("Text").click();
      visit.page.locator("pre.payload").waitFor();
      assertThat(
              (int) visit.page.evaluate("document.querySelector('pre.payload').textContent.length"))
          .isLessThan(30_000);
    }
  }

  private static int nodes(Visit visit, String place) {
    return (int) visit.page.evaluate("document.querySelectorAll('" + place + " *').length");
  }

  /** What waits is found although thousands were delivered since. */
  @Test
  void aSearchLooksFurtherBackByItself() {
    desk.postgres.execute(
        "select postrider.enqueue('old', 'one', '{}', not_before => now() + interval '1 hour')");
    desk.postgres.execute(
        """
        insert into postrider.message (id, created_at, route, is_json, payload)
        select postrider.new_id(), now(), r.id, true, '{}' from generate_series(1, 5000), postrider.route r
         where r.namespace = 'old'
        """);
    try (Visit visit =
        Browser.signedIn(desk, admin).open("messages?q=namespace%3Aold+state%3Apending")) {
      visit.until("document.querySelectorAll('main tr[data-row]').length === 1");
    }
  }

  private static final String MANY =
      """
      select postrider.enqueue('many', 'topic-' || n, '{}') from generate_series(1, 1000) n;
      insert into postrider.worker (name, instance, started_at, seen_at)
      select 'relay-' || n || '/1', 'instance-' || n, now(), now() from generate_series(1, 120) n;
      insert into postrider.relay (worker, instance, version, host, pid, listens)
      select w.id, w.instance, '1', 'host', 1, true from postrider.worker w where w.name like 'relay-%/1';
      insert into postrider.relay_destination (worker, name, type, breaker)
      select r.worker, 'destination-' || n, 'webhook', 'open' from postrider.relay r, generate_series(1, 40) n;
      insert into postrider.relay_route (worker, namespace, topic, destination)
      select r.worker, 'many', 'topic-' || n, 'destination-' || n from postrider.relay r, generate_series(1, 40) n;
      with dead as (
        insert into postrider.message (id, created_at, route, is_json, payload)
        select postrider.new_id(), now(), (select min(id) from postrider.route where namespace = 'many'), true, '{}'
          from generate_series(1, 20000) returning id, route)
      insert into postrider.dead_letter (message_id, delivery, route, attempts, died_at, code, error)
      select id, 1, route, 1, now(), 'http_500', 'order ' || id || ' is locked' from dead;
      analyze
      """;

  @Test
  void muchOfEverythingIsShownInPart() {
    try (Desk desk = Desk.pooled(server -> server)) {
      desk.postgres.execute(MANY);
      muchOfEverythingIsShownInPart(desk);
    }
  }

  private static void muchOfEverythingIsShownInPart(Desk desk) {
    try (Visit visit = Browser.signedIn(desk, desk.viewer)) {
      visit.sees("more destinations are down");
      visit.sees("dead letters");
      assertThat(visit.page.locator(".problem").count()).isLessThanOrEqualTo(6);
      visit.accessible();
      visit.picture("many-overview");
      visit.open("dead");
      visit.sees("the newest 10,000 are counted");
      visit.open("topics");
      visit.sees("these are the 100 with the most");
      visit.open("destinations");
      visit.sees("Show 20 more of 40");
      visit.picture("many-destinations");
      visit.open("relays");
      visit.sees("These are the 100 that were seen last.");
      assertThat(nodes(visit, "main")).isLessThan(8_000);
      visit.picture("many-relays");
      visit.open("messages");
      visit.until("document.querySelectorAll('main tr[data-row]').length === 50");
    }
  }
}
