package dev.postrider.cli.settings;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The settings under one path. Each method reads one of them; what is wrong is noted, and the
 * default returned in its place, so that reading goes on to the next mistake. Close it when all
 * were read: whatever else the file has there is unknown. Used by one thread.
 */
public final class Section extends SectionValues implements AutoCloseable {
  Section(Settings settings, String path, @Nullable Node node) {
    super(settings, path, node);
  }

  /** Whether somebody gave a value, good or not. */
  public boolean has(String key) {
    return settings.override(path(key)) != null || file.entries().containsKey(key);
  }

  /**
   * Names and texts whatever the names are, secrets that are not shown and may stand in files.
   *
   * @param separator stands in a name where a variable of the environment has an underscore
   */
  public Map<String, String> properties(String key, char separator) {
    Map<String, String> found = new LinkedHashMap<>();
    try (Section section = section(key)) {
      for (String name : section.all(separator)) {
        @Nullable String value = section.secret(name);
        if (value != null) {
          found.put(name, value);
        }
      }
    }
    return found;
  }

  private Set<String> all(char separator) {
    return new Names(settings, path, file.entries().keySet())
        .all(separator).stream()
            .map(name -> name.endsWith(FILE) ? name.substring(0, name.lastIndexOf(FILE)) : name)
            .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** The settings under a key of this section. */
  public Section section(String key) {
    asked.add(key);
    return new Section(settings, path(key), file.entries().get(key));
  }

  /**
   * The names under this section, where users choose them: those of the file and of flags, and of
   * variables that end in the given setting, which tells the name's end from the setting's start.
   */
  public Set<String> names(String telling) {
    return new Names(settings, path, file.entries().keySet()).endingIn(telling);
  }

  /** Warns of variables that belong to none of these names of this section. */
  public void ignoreOthers(Collection<String> names) {
    String start = Settings.variable(path) + "_";
    for (String variable : settings.variables()) {
      if (variable.startsWith(start)
          && names.stream()
              .noneMatch(n -> variable.startsWith(start + Settings.variable(n) + "_"))) {
        settings.ignore(
            variable,
            "ignored, since it belongs to nothing under %s, which has %s"
                .formatted(path, names.isEmpty() ? "no entry" : String.join(", ", names)));
      }
    }
  }

  /** The sections of a list: those of the file, and as many more as flags and variables name. */
  public List<Section> items(String key) {
    asked.add(key);
    @Nullable Node node = file.entries().get(key);
    List<Node> given = node instanceof Node.Sequence sequence ? sequence.items() : List.of();
    if (node instanceof Node.Mapping || (node instanceof Node.Scalar s && s.text() != null)) {
      settings.problem(node.origin(), path(key), "expected a list, each item after a \"- \"");
    }
    int count = given.size();
    while (count < 1000 && overridden(path(key) + "[" + count + "].")) {
      count++;
    }
    List<Section> sections = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      @Nullable Node item = i < given.size() ? given.get(i) : null;
      sections.add(new Section(settings, path(key) + "[" + i + "]", item));
    }
    return sections;
  }

  private boolean overridden(String start) {
    String variable = Settings.variable(start);
    return settings.flagPaths().stream().anyMatch(flag -> flag.startsWith(start))
        || settings.variables().stream().anyMatch(name -> name.startsWith(variable));
  }

  @Override
  public void close() {
    file.entries()
        .forEach(
            (key, node) -> {
              if (!asked.contains(key)) {
                settings.problem(
                    node.origin(), path(key), "unknown key; " + Suggestion.of(key, asked));
              }
            });
  }

  /** Marks a key as known, where a name's own section is read later. */
  public void known(String key) {
    asked.add(key);
  }
}
