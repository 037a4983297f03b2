package dev.postrider.cli.settings;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Finds the names under a path where users choose them: in the file, in flags and, as far as an
 * underscore lets them be told, in the environment. Used by one thread.
 */
record Names(Settings settings, String path, Set<String> inFile) {
  /**
   * Those of the file and of flags, and of variables that end in the given setting, which tells the
   * name's end from the setting's start.
   */
  Set<String> endingIn(String telling) {
    Set<String> names = new LinkedHashSet<>(inFile);
    for (String flag : settings.flagPaths()) {
      if (flag.startsWith(path + ".") && flag.indexOf('.', path.length() + 1) > 0) {
        names.add(flag.substring(path.length() + 1, flag.indexOf('.', path.length() + 1)));
      }
    }
    String end = "_" + Settings.variable(telling);
    variables().stream()
        .filter(variable -> variable.endsWith(end))
        .filter(variable -> variable.length() > end.length())
        .map(variable -> variable.substring(0, variable.length() - end.length()))
        .sorted(Comparator.comparingInt(String::length))
        .filter(name -> names.stream().noneMatch(known -> isOrBelongsTo(name, known)))
        .forEach(name -> names.add(name.toLowerCase(Locale.ROOT).replace('_', '-')));
    return names;
  }

  /** Also {@code RABBIT_TOPOLOGY_QUEUES_0}, once there is {@code RABBIT}: an item of a list. */
  private static boolean isOrBelongsTo(String variable, String known) {
    String name = Settings.variable(known);
    return variable.equals(name)
        || (variable.startsWith(name + "_")
            && variable.substring(name.length()).matches("(_[A-Z]+)+_\\d+"));
  }

  /** All that stand under the path; the separator stands for an underscore of the environment. */
  Set<String> all(char separator) {
    Set<String> names = new LinkedHashSet<>(inFile);
    settings.flagPaths().stream()
        .filter(flag -> flag.startsWith(path + "."))
        .forEach(flag -> names.add(flag.substring(path.length() + 1)));
    for (String variable : variables()) {
      if (names.stream().noneMatch(known -> Settings.variable(known).equals(variable))) {
        names.add(variable.toLowerCase(Locale.ROOT).replace('_', separator));
      }
    }
    return names;
  }

  /** What variables under the path have behind it. */
  private List<String> variables() {
    String start = Settings.variable(path) + "_";
    return settings.variables().stream()
        .filter(variable -> variable.startsWith(start))
        .map(variable -> variable.substring(start.length()))
        .toList();
  }
}
