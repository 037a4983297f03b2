package dev.postrider.cli.settings;

/** One thing that is wrong: where, which setting, and what was expected. Immutable. */
public record SettingProblem(Origin origin, String path, String text) {
  @Override
  public String toString() {
    String place = origin.equals(Origin.DEFAULT) ? "" : origin + ": ";
    return place + (path.isEmpty() ? "" : path + ": ") + text;
  }
}
