package dev.postrider.cli.output;

import dev.postrider.internal.text.Printable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Aligned columns, two spaces apart; numbers to the right. Columns without any value are left out.
 * Where the line has a width, long texts are cut, then optional columns are left out. Ids, numbers
 * and times are never cut. Used by one thread.
 */
public final class Table {
  private static final Pattern NUMBER = Pattern.compile("~?[0-9][0-9,.]*\\+?( ms)?");
  private static final Pattern FIXED =
      Pattern.compile("[0-9a-f]{8}-[0-9a-f-]{27}|\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z");

  /** One long text must not move all later rows to the right. */
  private static final int KEPT_MAX = 40;

  private final List<String> titles;
  private final List<Row> rows = new ArrayList<>();
  private final Set<String> whole = new HashSet<>();
  private final List<String> optional = new ArrayList<>();
  private final int[] before;
  private boolean headless;

  private record Row(@Nullable Colour colour, List<Screen.Painted> cells) {
    String text(int column) {
      return cells.get(column).text();
    }
  }

  public Table(String... titles) {
    this.titles = List.of(titles);
    this.before = new int[titles.length];
  }

  /** Columns that are never cut, because people copy from them. */
  public Table whole(String... columns) {
    whole.addAll(List.of(columns));
    return this;
  }

  /** Columns that are left out if there is no room for all, the first of these first. */
  public Table optional(String... columns) {
    optional.addAll(List.of(columns));
    return this;
  }

  public Table row(@Nullable Object... cells) {
    return row((Colour) null, cells);
  }

  /**
   * A row in a colour, null for none.
   *
   * @param cells what {@link Screen#paint} returned, or anything else
   */
  public Table row(@Nullable Colour colour, @Nullable Object... cells) {
    List<Screen.Painted> texts = new ArrayList<>();
    for (Object cell : cells) {
      Screen.Painted given =
          cell instanceof Screen.Painted painted
              ? painted
              : new Screen.Painted(null, cell == null ? "" : String.valueOf(cell));
      texts.add(new Screen.Painted(given.colour(), Printable.line(given.text())));
    }
    rows.add(new Row(colour, texts));
    return this;
  }

  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Without a line of titles. */
  public Table headless() {
    headless = true;
    return this;
  }

  /** An empty table whose columns are at least as wide as these: for rows that come later. */
  public Table next() {
    Table next = new Table(titles.toArray(String[]::new));
    next.headless = headless;
    next.whole.addAll(whole);
    next.optional.addAll(optional);
    for (int column = 0; column < titles.size(); column++) {
      next.before[column] = Math.min(widest(column), KEPT_MAX);
    }
    return next;
  }

  /** The lines, and the titles of the columns that there was no room for. */
  record Laid(List<String> lines, List<String> leftOut) {}

  Laid lay(int width, boolean colour) {
    boolean[] numbers = new boolean[titles.size()];
    List<Widths.Column> columns = new ArrayList<>();
    for (int column = 0; column < titles.size(); column++) {
      numbers[column] = matches(column, NUMBER);
      columns.add(
          new Widths.Column(
              headless ? 0 : Words.width(titles.get(column)),
              widest(column),
              !whole.contains(titles.get(column)) && !numbers[column] && !matches(column, FIXED)));
    }
    Widths widths = Widths.of(columns, optional.stream().map(titles::indexOf).toList(), width);
    List<String> lines = new ArrayList<>();
    if (!headless) {
      List<Screen.Painted> head =
          titles.stream().map(title -> new Screen.Painted(null, title)).toList();
      lines.add(line(new Row(Colour.FAINT, head), widths, numbers, colour));
    }
    rows.forEach(row -> lines.add(line(row, widths, numbers, colour)));
    return new Laid(lines, widths.leftOut().stream().map(titles::get).toList());
  }

  private int widest(int column) {
    int widest = before[column];
    for (Row row : rows) {
      widest = Math.max(widest, Words.width(row.text(column)));
    }
    return widest;
  }

  private boolean matches(int column, Pattern pattern) {
    return rows.stream()
        .map(row -> row.text(column))
        .allMatch(cell -> cell.isEmpty() || pattern.matcher(cell).matches());
  }

  private static String line(Row row, Widths widths, boolean[] numbers, boolean colour) {
    List<Integer> filled =
        widths.shown().stream().filter(column -> !row.text(column).isEmpty()).toList();
    int last = filled.isEmpty() ? -1 : filled.get(filled.size() - 1);
    StringBuilder line = new StringBuilder();
    for (int column : widths.shown()) {
      if (column > last) {
        break; // no spaces at the end
      }
      Screen.Painted cell = row.cells().get(column);
      String text = Words.cut(cell.text(), widths.width(column));
      String space = " ".repeat(widths.width(column) - Words.width(text));
      String painted = colour && cell.colour() != null ? cell.colour().paint(text) : text;
      line.append(line.isEmpty() ? "" : "  ");
      line.append(numbers[column] ? space + painted : painted + (column == last ? "" : space));
    }
    return colour && row.colour() != null ? row.colour().paint(line.toString()) : line.toString();
  }
}
