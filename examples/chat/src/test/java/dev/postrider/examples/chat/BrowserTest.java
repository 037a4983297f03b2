package dev.postrider.examples.chat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** The page in a real browser, once on each node. */
@Timeout(240)
@Tag("CH-2")
@Tag("CH-3")
@Tag("CH-10")
class BrowserTest {
  private static final String SHOWN =
      "[...document.querySelectorAll('#messages li')].map(li => li.lastChild.data).join('|')";
  private static final String STATE = "document.getElementById('state').textContent";
  private static final String SEND =
      """
      (document.getElementById('text').value = '%s', document.querySelector('form').requestSubmit())
      """;

  @TempDir(cleanup = CleanupMode.NEVER) // Chromium's processes write a little longer than they live
  Path profile;

  @Test
  void aMessageShowsInBothBrowsersAndNoneIsMissedWhenANodeGoesAway() throws Exception {
    try (Office office = new Office().relaying();
        Browser browser = new Browser(profile)) {
      office.say(Office.LOBBY, "from before");
      Browser.Tab onA = browser.open(address(office.nodeA.url(), "ann", office.acme));
      Browser.Tab onB = browser.open(address(office.nodeB().url(), "bob", office.acme));
      onA.until(SHOWN, "from before");
      onB.until(SHOWN, "from before");
      onB.until(STATE, "live on 127.0.0.1:" + office.nodeB().port());

      onA.evaluate(SEND.formatted("hello <b>bob</b>"));
      onB.until(SHOWN, "from before|hello <b>bob</b>");
      onB.evaluate(SEND.formatted("hello ann"));
      onA.until(SHOWN, "from before|hello <b>bob</b>|hello ann");

      office.closeNodeB();
      onB.until(STATE, "reconnecting");
      onA.evaluate(SEND.formatted("are you there?"));
      onA.until(SHOWN, "from before|hello <b>bob</b>|hello ann|are you there?");
      office.restartNodeB();
      onB.until(SHOWN, "from before|hello <b>bob</b>|hello ann|are you there?");
    }
  }

  private static String address(String url, String name, String token) {
    return url + "/#project=acme&session=lobby&name=" + name + "&token=" + token;
  }
}
