package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.server.Desk;
import dev.postrider.server.Server;
import dev.postrider.server.ServerConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The server is gone for a while: the page says so, on any screen, and goes on when it is back. */
@Tag("OP-2")
@Timeout(120)
class LostServerTest {
  private static final String REFUSED =
      "ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|ERR_CONNECTION_RESET|503";

  @Test
  void aPageSaysThatItIsOldUntilTheServerIsBack() {
    Desk desk = Desk.pooled(server -> server);
    try (Visit visit = Browser.signedIn(desk, desk.viewer, 390, false).expecting(REFUSED)) {
      visit.sees("No relay runs");
      int port = java.net.URI.create(desk.server.url()).getPort();
      desk.server.close();
      visit.sees("The server does not answer.");
      visit.sees("You see what was known at");
      visit.accessible();
      visit.picture("lost");
      visit.open("audit");
      visit.sees("The server does not answer");
      visit.open("relays");
      visit.sees("This page could not be loaded");

      ServerConfig config = ServerConfig.DEFAULT.withPort(port);
      try (Server again = Server.builder(desk.postgres.dataSource()).config(config).start()) {
        assertThat(again.url()).endsWith(":" + port);
        visit.until("!document.body.textContent.includes('You see what was known at')");
        visit.button("Load the console again").click();
        visit.open("");
        visit.sees("No relay runs");
      }
    } finally {
      desk.close();
    }
  }
}
