package dev.postrider.server.console;

import dev.postrider.server.api.Guard;
import dev.postrider.server.api.Problem;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The console's files, from beside this class. Browsers ask each time whether a file has changed,
 * so that an upgrade shows at once. Thread-safe.
 */
public final class Pages {
  /** Where the console is. */
  public static final String PATH = "/console/";

  private static final String INDEX = "index.html";

  /** Nothing but our own files runs, and it talks to nobody but this server. */
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors ";

  private static final Pattern FILE = Pattern.compile("[a-z0-9-]+(?:/[a-z0-9-]+)?\\.([a-z]+)");
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml");

  private final Map<String, Page> pages = new ConcurrentHashMap<>();

  private final String policy;
  private final boolean framed;

  /**
   * @param frameAncestors origins whose pages may show the console in a frame
   */
  public Pages(List<String> frameAncestors) {
    this.framed = !frameAncestors.isEmpty();
    this.policy = POLICY + (framed ? String.join(" ", frameAncestors) : "'none'");
  }

  private record Page(byte[] bytes, String type, String tag) {}

  /**
   * Adds the routes.
   *
   * @param rootTaken whether something else is at {@code /}
   */
  public void install(JavalinConfig config, boolean rootTaken) {
    if (!rootTaken) {
      config.routes.addHttpHandler(HandlerType.GET, "/", Pages::redirect, Guard.PUBLIC);
    }
    config.routes.addHttpHandler(HandlerType.GET, PATH, this::start, Guard.PUBLIC);
    config.routes.addHttpHandler(
        HandlerType.GET, PATH + "<file>", c -> show(c, c.pathParam("file")), Guard.PUBLIC);
  }

  /** Javalin also routes the path without its last slash here, where relative links would fail. */
  private void start(Context context) {
    if (context.path().equals(PATH)) {
      show(context, INDEX);
    } else {
      redirect(context);
    }
  }

  private static void redirect(Context context) {
    context.status(302).header("Location", PATH);
  }

  private void show(Context context, String file) {
    @Nullable Page page = page(file);
    if (page == null) {
      throw Problem.notFound("there is nothing at " + context.path()).toException();
    }
    context
        .header("Content-Security-Policy", policy)
        .header("Cache-Control", "no-cache")
        .header("ETag", page.tag);
    if (framed) {
      context.res().setHeader("X-Frame-Options", null); // it knows no list; the policy does
    }
    if (Objects.equals(context.header("If-None-Match"), page.tag)) {
      context.status(304);
    } else {
      context.contentType(page.type).result(page.bytes);
    }
  }

  private @Nullable Page page(String file) {
    @Nullable Page known = pages.get(file);
    if (known == null) {
      known = read(file);
      if (known != null) {
        pages.put(file, known);
      }
    }
    return known;
  }

  private static @Nullable Page read(String file) {
    Matcher name = FILE.matcher(file);
    @Nullable String type = name.matches() ? TYPES.get(name.group(1)) : null;
    if (type == null) {
      return null;
    }
    try (InputStream in = Pages.class.getResourceAsStream(file)) {
      if (in == null) {
        return null;
      }
      byte[] bytes = in.readAllBytes();
      return new Page(bytes, type, '"' + hash(bytes) + '"');
    } catch (IOException e) {
      throw new IllegalStateException(file + " cannot be read", e);
    }
  }

  private static String hash(byte[] bytes) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      return HexFormat.of().formatHex(hash, 0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }
}
