package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ViewportSize;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One visitor of the console. At its end it fails if the browser's console had an error, which a
 * violation of the content security policy is, too.
 */
final class Visit implements AutoCloseable {
  private static final String AXE = axe();

  /** Where to put pictures of what was seen; nowhere unless asked for. */
  private static final @Nullable String PICTURES = System.getProperty("console.pictures");

  final Page page;
  private final BrowserContext context;
  private final String url;
  private final List<String> errors = new ArrayList<>();
  private Pattern expected = Pattern.compile("(?!)");

  Visit(BrowserContext context, String url) {
    this.context = context;
    this.url = url;
    this.page = context.newPage();
    page.onConsoleMessage(
        message -> {
          if (message.type().equals("error") || message.type().equals("warning")) {
            errors.add(message.text());
          }
        });
    page.onPageError(errors::add);
  }

  private static String axe() {
    try (InputStream file = Visit.class.getResourceAsStream("/axe.min.js")) {
      return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Errors that match are part of the test, such as a refused call. */
  Visit expecting(String pattern) {
    expected = Pattern.compile(pattern);
    return this;
  }

  /** Goes to a page of the console, such as {@code dead}. */
  Visit open(String path) {
    page.navigate(url + "#/" + path);
    return this;
  }

  Locator button(String name) {
    return page.getByRole(
        AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  Locator link(String name) {
    return page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  Locator text(String text) {
    return page.getByText(text);
  }

  /** The question that is asked before something is done. */
  Locator dialog() {
    return page.locator("dialog[open]");
  }

  /** Answers the question with its own verb, and waits until it is done. */
  void confirm(String verb) {
    Locator dialog = dialog();
    dialog
        .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(verb).setExact(true))
        .click();
    dialog.waitFor(
        new Locator.WaitForOptions()
            .setState(com.microsoft.playwright.options.WaitForSelectorState.DETACHED));
  }

  void confirm(String verb, String reason) {
    dialog().locator("input[name=reason]").fill(reason);
    confirm(verb);
  }

  /** Waits until the page shows this. */
  void sees(String text) {
    page.getByText(text).first().waitFor();
  }

  /**
   * Waits for a condition in JavaScript. Playwright's own way needs eval, which the policy forbids.
   */
  void until(String condition) {
    for (int i = 0; i < 300; i++) {
      if (Boolean.TRUE.equals(page.evaluate("() => " + condition))) {
        return;
      }
      page.waitForTimeout(50);
    }
    throw new AssertionError("not within 15 s at " + page.url() + ": " + condition);
  }

  void seesNot(String text) {
    assertThat(page.getByText(text).count()).as(text).isZero();
  }

  /** Fails if what is shown breaks a rule of WCAG 2.1 AA. */
  void accessible() {
    page.evaluate(AXE);
    Object found =
        page.evaluate(
            """
            async () => {
              const run = await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']});
              return run.violations.map(v => v.id + ': ' + v.help + ' in '
                + v.nodes.slice(0, 3).map(n => n.html + ' ' + (n.any[0] ? n.any[0].message : '')).join(' | '));
            }
            """);
    assertThat((List<?>) found).as("at " + page.url()).isEmpty();
    Object wider =
        page.evaluate(
            """
            () => {
              const width = document.documentElement.clientWidth;
              const out = e => e.getBoundingClientRect().right > width + 1;
              return document.documentElement.scrollWidth <= width ? [] : [...document.querySelectorAll('main *')]
                .filter(e => out(e) && ![...e.children].some(out)).slice(0, 3).map(e => e.outerHTML.slice(0, 300));
            }
            """);
    assertThat((List<?>) wider).as("wider than the screen at " + page.url()).isEmpty();
  }

  /** Keeps a picture, if pictures were asked for. */
  void picture(String name) {
    if (PICTURES != null) {
      ViewportSize screen = page.viewportSize();
      int height = (int) page.evaluate("document.documentElement.scrollHeight");
      page.setViewportSize(screen.width, Math.max(height, screen.height));
      page.screenshot(new Page.ScreenshotOptions().setPath(Path.of(PICTURES, name + ".png")));
      page.setViewportSize(screen.width, screen.height);
    }
  }

  @Override
  public void close() {
    context.close();
    assertThat(errors.stream().filter(error -> !expected.matcher(error).find()))
        .as("errors of the browser's console")
        .isEmpty();
  }
}
