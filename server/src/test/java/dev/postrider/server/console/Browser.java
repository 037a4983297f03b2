package dev.postrider.server.console;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import dev.postrider.server.Desk;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Debian's Chromium, one process for all tests of the run. Used by one thread. */
final class Browser {
  private static final Playwright PLAYWRIGHT =
      Playwright.create(
          new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
  private static final com.microsoft.playwright.Browser CHROMIUM =
      PLAYWRIGHT
          .chromium()
          .launch(
              new BrowserType.LaunchOptions()
                  .setExecutablePath(Path.of("/usr/bin/chromium"))
                  // It opens our own page only, and root may not have a sandbox.
                  .setArgs(List.of("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")));

  private Browser() {}

  /** A new visitor on a wide screen in light colours, signed in with this token. */
  static Visit signedIn(Desk desk, String token) {
    return signedIn(desk, token, 1280, false);
  }

  static Visit signedIn(Desk desk, String token, int width, boolean dark) {
    Visit visit = visit(desk, width, dark);
    visit.page.navigate(desk.server.signInLink(token));
    visit.page.waitForSelector(".frame main");
    return visit;
  }

  static Visit visit(Desk desk, int width, boolean dark) {
    BrowserContext context =
        CHROMIUM.newContext(
            new NewContextOptions()
                .setViewportSize(width, width < 500 ? 844 : 860)
                .setColorScheme(dark ? ColorScheme.DARK : ColorScheme.LIGHT)
                .setLocale("en-GB")
                .setTimezoneId("Europe/Berlin")
                .setPermissions(List.of("clipboard-read", "clipboard-write")));
    context.setDefaultTimeout(15_000);
    return new Visit(context, desk.server.consoleUrl());
  }
}
