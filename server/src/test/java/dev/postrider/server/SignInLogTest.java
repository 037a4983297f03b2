package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

@Tag("OP-3")
class SignInLogTest {
  private static final int FAILURES = 40;

  @Test
  void failedSignInsAreLoggedWithoutTheSecretAndNotWithoutEnd() {
    Logger logger = (Logger) LoggerFactory.getLogger("dev.postrider.server.access");
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    logger.addAppender(lines);
    try (Desk desk = Desk.open()) {
      String secret = "postrider_4711_" + "s".repeat(43);
      for (int i = 0; i < FAILURES; i++) {
        assertThat(desk.get(secret, "/v1/messages").status()).isEqualTo(401);
      }
      List<String> said = lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
      assertThat(said)
          .hasSizeBetween(5, FAILURES / 2)
          .allMatch(line -> line.startsWith("event=sign_in_failed address=127.0.0.1 token=4711"))
          .noneMatch(line -> line.contains("sss"));
    } finally {
      logger.detachAppender(lines);
    }
  }
}
