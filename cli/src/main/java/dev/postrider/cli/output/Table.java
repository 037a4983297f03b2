package dev.postrider.cli.output;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Aligned columns, two spaces apart; numbers to the right. Columns without any value are left out.
 * Used by one thread.
 */
public final class Table {
  private static final int CELL_MAX = 100;

  private final List<String> titles;
  private final List<List<String>> rows = new ArrayList<>();
  private final List<@Nullable Colour> colours = new ArrayList<>();

  public Table(String... titles) {
    this.titles = List.of(titles);
  }

  public Table row(@Nullable Object... cells) {
    return row((Colour) null, cells);
  }

  /** A row in a colour, null for none. */
  public Table row(@Nullable Colour colour, @Nullable Object... cells) {
    List<String> texts = new ArrayList<>();
    for (Object cell : cells) {
      texts.add(cell == null ? "" : Words.cut(String.valueOf(cell), CELL_MAX));
    }
    rows.add(texts);
    colours.add(colour);
    return this;
  }

  public boolean isEmpty() {
    return rows.isEmpty();
  }

  List<String> lines(boolean colour) {
    int[] shown =
        IntStream.range(0, titles.size())
            .filter(column -> rows.stream().anyMatch(row -> !row.get(column).isEmpty()))
            .toArray();
    List<String> lines = new ArrayList<>();
    lines.add(painted(line(titles, shown), Colour.FAINT, colour));
    for (int i = 0; i < rows.size(); i++) {
      lines.add(painted(line(rows.get(i), shown), colours.get(i), colour));
    }
    return lines;
  }

  private static String painted(String line, @Nullable Colour colour, boolean wanted) {
    return wanted && colour != null ? colour.paint(line) : line;
  }

  private String line(List<String> cells, int[] shown) {
    StringBuilder line = new StringBuilder();
    for (int column : shown) {
      String cell = cells.get(column);
      String space = " ".repeat(width(column) - cell.length());
      line.append(line.isEmpty() ? "" : "  ");
      line.append(isNumeric(column) ? space + cell : cell + space);
    }
    return line.toString().stripTrailing();
  }

  private int width(int column) {
    int widest = titles.get(column).length();
    for (List<String> row : rows) {
      widest = Math.max(widest, row.get(column).length());
    }
    return widest;
  }

  private boolean isNumeric(int column) {
    return rows.stream()
        .map(row -> row.get(column))
        .allMatch(cell -> cell.isEmpty() || cell.matches("~?[0-9][0-9,.]*\\+?"));
  }
}
