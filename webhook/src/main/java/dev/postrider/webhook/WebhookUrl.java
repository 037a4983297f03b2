package dev.postrider.webhook;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where an endpoint is. Never shows the path or the query, which may hold a secret. Immutable.
 *
 * @param host a name in lower case, or an address without brackets
 */
record WebhookUrl(URI uri, String host) {

  /** Null, and what is wrong with it added to the list, if it cannot be used. */
  static @Nullable WebhookUrl parse(String url, List<String> wrong) {
    URI uri;
    try {
      uri = new URI(url);
    } catch (URISyntaxException e) {
      wrong.add("expected a URL, got text that is none: " + e.getReason());
      return null;
    }
    int before = wrong.size();
    String scheme = uri.getScheme() == null ? "none" : uri.getScheme().toLowerCase(Locale.ROOT);
    check(wrong, scheme.equals("https") || scheme.equals("http"), "an https URL", scheme);
    String authority = uri.getRawAuthority() == null ? "" : uri.getRawAuthority();
    check(wrong, authority.indexOf('@') < 0, "no user or password in the URL", "one");
    check(wrong, uri.getRawFragment() == null, "no fragment in the URL", "one");
    check(wrong, uri.getPort() <= 65_535 && uri.getPort() != 0, "port 1..65535", uri.getPort());
    String host = uri.getHost();
    if (authority.indexOf('@') < 0) {
      check(
          wrong,
          host != null && usable(host),
          "a host name, or an address in its usual notation",
          authority.isEmpty() ? "none" : authority);
    }
    return wrong.size() > before || host == null ? null : new WebhookUrl(uri, normal(host));
  }

  /** Other notations of addresses mean different things to different resolvers. */
  private static boolean usable(String host) {
    String bare = normal(host);
    String last = bare.substring(bare.lastIndexOf('.') + 1);
    boolean address = bare.indexOf(':') >= 0 || last.matches("\\d+|0x[0-9a-f]*");
    return !address || Cidr.literal(bare) != null;
  }

  /** In lower case, without brackets and without the dot of a full name. */
  static String normal(String host) {
    String lower = host.toLowerCase(Locale.ROOT);
    if (lower.startsWith("[") && lower.endsWith("]")) {
      return lower.substring(1, lower.length() - 1);
    }
    return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
  }

  private static void check(List<String> wrong, boolean ok, String expected, Object given) {
    if (!ok) {
      wrong.add("expected " + expected + ", got " + given);
    }
  }

  boolean plain() {
    return !"https".equalsIgnoreCase(uri.getScheme());
  }

  /** For people: scheme, host and port. */
  @Override
  public String toString() {
    return uri.getScheme() + "://" + uri.getRawAuthority();
  }
}
