package dev.postrider.internal.text;

import dev.postrider.message.ErrorReport;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Tells failures of the same kind by their error texts: texts that differ only in ids, numbers and
 * quoted words have the same fingerprint. Holds no state.
 *
 * <p>Fingerprints of summaries, for those who may not see what receivers replied, begin with s.
 */
public final class Fingerprint {
  /** What comes later hardly tells one kind of failure from another. */
  private static final int TEXT_MAX = 400;

  private static final int BYTES = 6;
  private static final String SUMMARY = "s";
  private static final Pattern FORM = Pattern.compile("s?[0-9a-f]{12}");

  /** Quoted text and words, ids among them. Never goes back, so that no text takes long. */
  private static final Pattern PARTS = Pattern.compile("\"[^\"]*+\"|'[^']*+'|\\b\\w[\\w.@-]*+");

  /** At least one digit makes a part a value. */
  private static final Pattern DIGIT = Pattern.compile("[0-9]");

  /** The code in front of a report says what went wrong, such as HTTP 422. */
  private static final Pattern STATUS = Pattern.compile("^HTTP [1-5][0-9][0-9]\\b");

  private Fingerprint() {}

  /** Of a text without the reply of the receiver; begins with {@value #SUMMARY}. */
  public static String ofSummary(@Nullable String error) {
    return SUMMARY + of(ErrorReport.withoutReply(error));
  }

  /** Whether a text is one of ours. */
  public static boolean isOne(String text) {
    return FORM.matcher(text).matches();
  }

  /** Whether it tells nothing of a receiver's reply. */
  public static boolean isSummary(String fingerprint) {
    return fingerprint.startsWith(SUMMARY);
  }

  public static boolean matches(String fingerprint, @Nullable String error) {
    return fingerprint.equals(isSummary(fingerprint) ? ofSummary(error) : of(error));
  }

  /** Twelve hexadecimal digits; the same for all failures without a text. */
  public static String of(@Nullable String error) {
    byte[] text = pattern(error).getBytes(StandardCharsets.UTF_8);
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(text);
      return HexFormat.of().formatHex(hash, 0, BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }

  /** The text with an ellipsis for each value. */
  static String pattern(@Nullable String error) {
    if (error == null) {
      return "";
    }
    String text = error.substring(0, Math.min(error.length(), TEXT_MAX));
    var status = STATUS.matcher(text);
    String kept = status.find() ? status.group() : "";
    return kept + withoutValues(text.substring(kept.length()));
  }

  /** Goes over the text once. */
  static String withoutValues(CharSequence text) {
    return PARTS
        .matcher(text)
        .replaceAll(
            part ->
                DIGIT.matcher(part.group()).find() ? "…" : Matcher.quoteReplacement(part.group()));
  }
}
