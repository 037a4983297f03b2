package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A place among the consoles is given back, whatever the browser does. */
@Tag("OP-2")
class ViewerTest {
  private final FakeBrowser browser = new FakeBrowser();
  private final List<Viewer> left = new ArrayList<>();
  private long nowNanos;
  private final Viewer viewer = new Viewer(browser, 0, left::add, () -> nowNanos);

  private void offer(String event) {
    viewer.offer(event.getBytes(StandardCharsets.UTF_8));
  }

  private void after(int seconds) {
    nowNanos = Duration.ofSeconds(seconds).toNanos();
    viewer.tick();
  }

  @Test
  void aBrowserThatReadsIsAskedToComeBackAfterAMinute() {
    viewer.ready();
    offer("a");
    after(59);
    assertThat(browser.taken).containsExactly("a", ":\n\n");
    assertThat(left).isEmpty();
    after(61);
    assertThat(left).containsExactly(viewer);
    assertThat(browser.finished).isTrue();
    assertThat(browser.cut).isFalse();
  }

  @Test
  void oneThatTakesNothingIsCutOffWhenItsTimeIsOver() {
    viewer.ready();
    browser.takes = false;
    offer("a");
    after(61);
    assertThat(left).isEmpty();
    after(71);
    assertThat(browser.cut).isTrue();
    assertThat(left).containsExactly(viewer);
  }

  @Test
  void oneThatNeverBeganToReadToo() {
    after(61);
    after(71);
    assertThat(browser.cut).isTrue();
    assertThat(left).containsExactly(viewer);
  }

  @Test
  void oneThatIsFarBehindIsCutOffAtOnce() {
    viewer.ready();
    browser.takes = false;
    for (int i = 0; i < 100; i++) {
      offer("event " + i);
    }
    assertThat(browser.cut).isTrue();
    assertThat(left).containsExactly(viewer);
  }
}
