package dev.postrider.cli.output;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How wide the columns of a table are, so that they fit a line. Immutable.
 *
 * @param shown the columns with a value that there is room for
 * @param leftOut those that there is no room for
 */
record Widths(List<Integer> shown, List<Integer> leftOut, List<Integer> widths) {
  /** What a text is cut down to at most. */
  private static final int LEAST = 12;

  private static final int GAP = 2;

  /**
   * A column.
   *
   * @param title the title's width
   * @param widest that of its widest cell; 0 if all are empty
   */
  record Column(int title, int widest, boolean cuttable) {
    int natural() {
      return Math.max(title, widest);
    }

    int least() {
      return cuttable ? Math.max(title, Math.min(widest, LEAST)) : natural();
    }
  }

  int width(int column) {
    return widths.get(column);
  }

  /**
   * Cuts the widest columns first. If that is not enough, leaves out optional ones.
   *
   * @param optional in the order in which they may be left out
   */
  static Widths of(List<Column> columns, List<Integer> optional, int width) {
    List<Integer> shown =
        new ArrayList<>(
            IntStream.range(0, columns.size())
                .filter(column -> columns.get(column).widest() > 0)
                .boxed()
                .toList());
    List<Integer> leftOut = new ArrayList<>();
    for (int candidate : optional) {
      if (leastTotal(columns, shown) <= width) {
        break;
      }
      if (shown.remove((Integer) candidate)) {
        leftOut.add(candidate);
      }
    }
    int[] widths = columns.stream().mapToInt(Column::natural).toArray();
    cut(columns, shown, widths, width);
    return new Widths(shown, leftOut, Arrays.stream(widths).boxed().toList());
  }

  private static int leastTotal(List<Column> columns, List<Integer> shown) {
    return shown.stream().mapToInt(column -> columns.get(column).least() + GAP).sum() - GAP;
  }

  private static void cut(List<Column> columns, List<Integer> shown, int[] widths, int most) {
    int over = shown.stream().mapToInt(column -> widths[column] + GAP).sum() - GAP - most;
    for (; over > 0; over--) {
      int widest = -1;
      for (int column : shown) {
        boolean mayShrink = widths[column] > columns.get(column).least();
        if (mayShrink && (widest < 0 || widths[column] > widths[widest])) {
          widest = column;
        }
      }
      if (widest < 0) {
        return;
      }
      widths[widest]--;
    }
  }
}
