package dev.postrider.cli.settings;

import java.util.regex.Pattern;

/** Takes secrets out of what is shown. */
public final class Masks {
  /** Shown instead of a secret. */
  public static final String HIDDEN = "********";

  private static final Pattern USER_INFO = Pattern.compile("(://[^/?#]*?:)[^/?#]*(@)");
  private static final Pattern PARAMETER =
      Pattern.compile("(?i)([?&][^=&]*(?:password|secret|token)[^=&]*=)[^&]*");

  private Masks() {}

  /** A URL without the passwords in it. */
  public static String url(String url) {
    String plain = USER_INFO.matcher(url).replaceAll("$1" + HIDDEN + "$2");
    return PARAMETER.matcher(plain).replaceAll("$1" + HIDDEN);
  }
}
