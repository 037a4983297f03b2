package dev.postrider.cli.settings;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The settings under one path. Each method reads one of them; what is wrong is noted, and the
 * default returned in its place, so that reading goes on to the next mistake. Close it when all
 * were read: whatever else the file has there is unknown. Used by one thread.
 */
public final class Section implements AutoCloseable {
  private final Settings settings;
  private final String path;
  private final Node.Mapping file;
  private final Set<String> asked = new TreeSet<>();

  Section(Settings settings, String path, @Nullable Node node) {
    this.settings = settings;
    this.path = path;
    if (node instanceof Node.Mapping mapping) {
      this.file = mapping;
    } else {
      Origin origin = node == null ? Origin.DEFAULT : node.origin();
      this.file = Node.Mapping.empty(origin);
      if (node instanceof Node.Sequence || (node instanceof Node.Scalar s && s.text() != null)) {
        settings.problem(origin, path, "expected keys and values under it");
      }
    }
  }

  public String path() {
    return path;
  }

  /**
   * Notes something wrong with a setting of this section, or with all of it if key is empty. An
   * item of a list is {@code key[0]} and so on.
   */
  public void problem(String key, String text) {
    int bracket = key.indexOf('[');
    String name = bracket < 0 ? key : key.substring(0, bracket);
    Node.@Nullable Scalar given = name.isEmpty() ? null : settings.override(path(name));
    @Nullable Node node = file.entries().get(name);
    if (bracket >= 0 && node instanceof Node.Sequence list) {
      node = list.items().get(Integer.parseInt(key.substring(bracket + 1, key.length() - 1)));
    }
    Origin origin = given != null ? given.origin() : node != null ? node.origin() : file.origin();
    settings.problem(origin, key.isEmpty() ? path : path(key), text);
  }

  public @Nullable String text(String key) {
    return read(key, null, text -> text, value -> value);
  }

  public String text(String key, String otherwise) {
    return given(read(key, otherwise, text -> text, value -> value), otherwise);
  }

  /** A text that must be there; an empty one if it is not, after noting it. */
  public String required(String key) {
    @Nullable String value = text(key);
    if (value == null) {
      problem(key, "missing; it is mandatory");
    }
    return value == null ? "" : value;
  }

  /** A text that is never shown. */
  public @Nullable String secret(String key) {
    return read(key, null, text -> text, value -> Masks.HIDDEN);
  }

  /** A URL, which may hold a password. */
  public @Nullable String url(String key) {
    return read(key, null, text -> text, Masks::url);
  }

  /** A text of which only this is shown. */
  public @Nullable String masked(String key, Function<String, String> show) {
    return read(key, null, text -> text, show);
  }

  public int number(String key, int otherwise, int min, int max) {
    return given(
        read(key, otherwise, text -> Values.integer(text, min, max), String::valueOf), otherwise);
  }

  public double fraction(String key, double otherwise) {
    return given(
        read(
            key,
            otherwise,
            text -> Values.parse(text, "a number", Double::valueOf),
            String::valueOf),
        otherwise);
  }

  /** Bytes. */
  public long size(String key, long otherwise, long min, long max) {
    return given(
        read(
            key,
            otherwise,
            text -> Values.within(Units.size(text), min, max, "a size in bytes from"),
            String::valueOf),
        otherwise);
  }

  public boolean flag(String key, boolean otherwise) {
    return given(read(key, otherwise, Values::truth, String::valueOf), otherwise);
  }

  public Duration duration(String key, Duration otherwise, Duration min, Duration max) {
    return given(
        read(key, otherwise, text -> Values.between(Units.duration(text), min, max), Units::text),
        otherwise);
  }

  /** One of the named values of an enum, in lower case. */
  public <E extends Enum<E>> E choice(String key, E otherwise) {
    return given(
        read(
            key,
            otherwise,
            text -> Values.constant(text, otherwise.getDeclaringClass()),
            Values::name),
        otherwise);
  }

  /** Several texts: a list in the file, separated by commas elsewhere. */
  public List<String> texts(String key) {
    return texts(key, value -> value);
  }

  /** Several texts that are never shown. */
  public List<String> secrets(String key) {
    return texts(key, value -> Masks.HIDDEN);
  }

  private List<String> texts(String key, Function<String, String> show) {
    if (file.entries().get(key) instanceof Node.Sequence list
        && settings.override(path(key)) == null) {
      asked.add(key);
      List<String> items = new ArrayList<>();
      for (Node item : list.items()) {
        if (item instanceof Node.Scalar scalar && scalar.text() != null) {
          items.add(scalar.text());
        } else {
          settings.problem(item.origin(), path(key), "expected a list of texts");
        }
      }
      settings.show(
          path(key), items.stream().map(show).collect(Collectors.joining(", ")), list.origin());
      return items;
    }
    @Nullable String text = read(key, null, given -> given, show);
    return text == null ? List.of() : List.of(text.strip().split("\\s*,\\s*"));
  }

  /**
   * Names and texts whatever the names are, secrets that are not shown.
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
    return new Names(settings, path, file.entries().keySet()).all(separator);
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

  private String path(String key) {
    return path + "." + key;
  }

  private static <T> T given(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  private <T> @Nullable T read(
      String key, @Nullable T otherwise, Function<String, T> parse, Function<T, String> show) {
    asked.add(key);
    Node.@Nullable Scalar scalar = settings.override(path(key));
    if (scalar == null) {
      @Nullable Node node = file.entries().get(key);
      if (node instanceof Node.Scalar fromFile) {
        scalar = fromFile;
      } else if (node != null) {
        settings.problem(node.origin(), path(key), "expected a single value");
      }
    }
    @Nullable String text = scalar == null ? null : scalar.text();
    if (scalar == null || text == null) {
      settings.show(path(key), otherwise == null ? "" : show.apply(otherwise), Origin.DEFAULT);
      return otherwise;
    }
    try {
      T value = parse.apply(text);
      settings.show(path(key), show.apply(value), scalar.origin());
      return value;
    } catch (IllegalArgumentException | ArithmeticException e) {
      settings.problem(
          scalar.origin(), path(key), e.getMessage() + ", got \"" + Masks.url(text) + "\"");
      return otherwise;
    }
  }
}
