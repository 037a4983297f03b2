package dev.postrider.bench;

import java.util.List;
import java.util.Locale;

/**
 * Horizontal bars, drawn by hand: one SVG file that reads in light and in dark. Immutable.
 *
 * @param name of the file, without its ending
 */
record Chart(String name, String title, List<Bar> bars) {
  private static final int LABEL = 190;
  private static final int BARS = 380;
  private static final int WIDTH = LABEL + BARS + 90;
  private static final int ROW = 22;
  private static final int TOP = 34;

  private static final String OPEN =
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" role="img" aria-label="%3$s">
      <style>
      text { font: 12px system-ui, sans-serif; fill: #1f2328 }
      .title { font-weight: 600 }
      .ours { fill: #1a7f37 } .peer { fill: #57606a } .limit { fill: #afb8c1 }
      @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 }
        .ours { fill: #3fb950 } .peer { fill: #8b949e } .limit { fill: #484f58 }
      }
      </style>
      <text class="title" x="8" y="20">%3$s</text>
      """;

  /** Whose bar it is decides its colour. */
  enum Kind {
    OURS,
    PEER,
    LIMIT
  }

  /** What failed, and is not a number, has no bar. */
  record Bar(String label, double value, Kind kind) {}

  Chart {
    bars = List.copyOf(bars);
  }

  String svg() {
    double longest = bars.stream().mapToDouble(Bar::value).filter(v -> v > 0).max().orElse(1);
    StringBuilder svg =
        new StringBuilder(OPEN.formatted(WIDTH, TOP + bars.size() * ROW + 8, escaped(title)));
    for (int i = 0; i < bars.size(); i++) {
      svg.append(row(bars.get(i), TOP + i * ROW, longest));
    }
    return svg.append("</svg>\n").toString();
  }

  private static String row(Bar bar, int top, double longest) {
    double length = Double.isNaN(bar.value()) ? 0 : Math.max(1, BARS * bar.value() / longest);
    return String.format(
        Locale.ROOT,
        """
        <text x="%d" y="%d" text-anchor="end">%s</text>
        <rect class="%s" x="%d" y="%d" width="%.1f" height="16" rx="2"/>
        <text x="%.1f" y="%d">%s</text>
        """,
        LABEL - 8,
        top + 13,
        escaped(bar.label()),
        bar.kind().name().toLowerCase(Locale.ROOT),
        LABEL,
        top,
        length,
        LABEL + length + 6,
        top + 13,
        value(bar.value()));
  }

  private static String value(double value) {
    return Double.isNaN(value)
        ? "failed"
        : String.format(Locale.ROOT, value < 100 ? "%.1f" : "%,.0f", value);
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
  }
}
