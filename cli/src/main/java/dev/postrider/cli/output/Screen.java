package dev.postrider.cli.output;

import dev.postrider.internal.text.Printable;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Standard output for results, standard error for everything that is said beside them. UTF-8
 * whatever the locale. Used by one thread.
 */
public final class Screen {
  private final Terminal terminal;
  private final PrintStream out = stream(FileDescriptor.out);
  private final PrintStream err = stream(FileDescriptor.err);

  public Screen(Terminal terminal) {
    this.terminal = terminal;
  }

  private static PrintStream stream(FileDescriptor descriptor) {
    return new PrintStream(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
  }

  public Terminal terminal() {
    return terminal;
  }

  /**
   * A result on one line.
   *
   * @param parts what {@link #paint} returned, or anything else, which is made safe to show
   */
  public void line(Object... parts) {
    out.println(joined(parts));
  }

  /** A result on as many lines as it has, made safe to show. */
  public void text(String text) {
    out.println(Printable.lines(text));
  }

  /** A result for scripts. */
  public void json(@Nullable Object value) {
    out.println(JsonLine.of(value));
  }

  /** Rows, each on a line, and a note if some columns have no room. */
  public void table(Table table) {
    List<String> leftOut = rows(table);
    if (!leftOut.isEmpty()) {
      note("too narrow for: " + String.join(", ", leftOut) + "; --json has all");
    }
  }

  /** Rows, each on a line; returns the columns that there is no room for. */
  public List<String> rows(Table table) {
    Table.Laid laid = table.lay(terminal.columns(), terminal.colour());
    laid.lines().forEach(out::println);
    return laid.leftOut();
  }

  /** Something beside the result, made safe to show; it may have several lines. */
  public void note(String text) {
    err.println(Printable.lines(text));
  }

  /** What went wrong. */
  public void error(String text) {
    err.println(joined(paint(Colour.BAD, "error:"), " ") + Printable.lines(text));
  }

  /** Text in a colour, for {@link #line}. */
  public record Painted(@Nullable Colour colour, String text) {}

  public Painted paint(@Nullable Colour colour, String text) {
    return new Painted(colour, text);
  }

  private String joined(Object... parts) {
    StringBuilder line = new StringBuilder();
    for (Object part : parts) {
      if (part instanceof Painted painted) {
        String text = Printable.line(painted.text());
        @Nullable Colour colour = terminal.colour() ? painted.colour() : null;
        line.append(colour == null ? text : colour.paint(text));
      } else {
        line.append(Printable.line(String.valueOf(part)));
      }
    }
    return line.toString();
  }

  /** Writes over the line that progress is shown on; nothing where there is no terminal. */
  public void progress(String text) {
    if (terminal.live()) {
      err.print("\r\033[K" + Printable.line(text));
      err.flush();
    }
  }

  /** Asks; anything but yes is no. */
  public boolean confirm(String question) throws IOException {
    err.print(Printable.lines(question) + " [y/N] ");
    err.flush();
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    @Nullable String answer = in.readLine();
    return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
  }

  /** Whether a result could not be written, because the reader is gone. */
  public boolean gone() {
    return out.checkError();
  }

  PrintStream out() {
    return out;
  }
}
