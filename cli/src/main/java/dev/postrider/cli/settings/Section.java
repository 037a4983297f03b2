package dev.postrider.cli.settings;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  /** Behind a secret's key: the path of the file that holds the secret. */
  private static final String FILE = "-file";

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

  /** Whether somebody gave a value, good or not. */
  public boolean has(String key) {
    return settings.override(path(key)) != null || file.entries().containsKey(key);
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

  /** Whether the file, the environment or a flag has a value for this key. */
  public boolean given(String key) {
    Node.@Nullable Scalar scalar = settings.override(path(key));
    return scalar != null
        || (file.entries().get(key) instanceof Node.Scalar fromFile && fromFile.text() != null);
  }

  /** A text that is never shown. */
  public @Nullable String secret(String key) {
    return masked(key, value -> Masks.HIDDEN);
  }

  /** A URL, which may hold a password. */
  public @Nullable String url(String key) {
    return masked(key, Masks::url);
  }

  /**
   * A text of which only this is shown. It may stand in a file, whose path is at the key with
   * {@code -file} behind it.
   */
  public @Nullable String masked(String key, Function<String, String> show) {
    Node.@Nullable Scalar file = scalar(key + FILE);
    return file == null || file.text() == null
        ? read(key, null, text -> text, show)
        : fromFile(key, file, show);
  }

  private @Nullable String fromFile(String key, Node.Scalar named, Function<String, String> show) {
    asked.add(key);
    @Nullable Node inFile = file.entries().get(key);
    Node.@Nullable Scalar override = settings.override(path(key));
    @Nullable Node direct = override == null ? inFile : override;
    try {
      if (direct != null) {
        throw new IllegalArgumentException(
            "expected either %s or %s, got both; the other one is at %s"
                .formatted(key, key + FILE, direct.origin()));
      }
      String text = SecretFile.read(String.valueOf(named.text()));
      settings.show(path(key), show.apply(text), named.origin());
      return text;
    } catch (IllegalArgumentException e) {
      settings.problem(named.origin(), path(key + FILE), String.valueOf(e.getMessage()));
      return null;
    }
  }

  public int number(String key, int otherwise, int min, int max) {
    return given(
        read(key, otherwise, text -> ValueParser.integer(text, min, max), String::valueOf),
        otherwise);
  }

  public double fraction(String key, double otherwise) {
    return given(
        read(
            key,
            otherwise,
            text -> ValueParser.parse(text, "a number", Double::valueOf),
            String::valueOf),
        otherwise);
  }

  /** Bytes. */
  public long size(String key, long otherwise, long min, long max) {
    return given(
        read(
            key,
            otherwise,
            text -> ValueParser.within(Units.size(text), min, max, "a size in bytes from"),
            String::valueOf),
        otherwise);
  }

  public boolean flag(String key, boolean otherwise) {
    return given(read(key, otherwise, ValueParser::truth, String::valueOf), otherwise);
  }

  public Duration duration(String key, Duration otherwise, Duration min, Duration max) {
    return given(
        read(
            key,
            otherwise,
            text -> ValueParser.between(Units.duration(text), min, max),
            Units::text),
        otherwise);
  }

  /** A duration, or {@code never}, which is empty. */
  public Optional<Duration> durationOrNever(
      String key, Duration otherwise, Duration min, Duration max) {
    Optional<Duration> usual = Optional.of(otherwise);
    return given(
        read(
            key,
            usual,
            text -> ValueParser.orNever(text, min, max),
            value -> value.map(Units::text).orElse(ValueParser.NEVER)),
        usual);
  }

  /** One of the named values of an enum, in lower case. */
  public <E extends Enum<E>> E choice(String key, E otherwise) {
    return given(
        read(
            key,
            otherwise,
            text -> ValueParser.constant(text, otherwise.getDeclaringClass()),
            ValueParser::name),
        otherwise);
  }

  /** Several texts: a list in the file, separated by commas elsewhere. */
  public List<String> texts(String key) {
    return texts(key, value -> value);
  }

  /** Several texts that are never shown; in a file each on a line. */
  public List<String> secrets(String key) {
    Node.@Nullable Scalar file = scalar(key + FILE);
    if (file == null || file.text() == null) {
      return texts(key, value -> Masks.HIDDEN);
    }
    @Nullable String text = fromFile(key, file, value -> Masks.HIDDEN);
    return text == null ? List.of() : List.of(text.strip().split("\\s*[,\\n]\\s*"));
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

  private String path(String key) {
    return path + "." + key;
  }

  private static <T> T given(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  /** What was given for a key: by a flag, else by a variable, else in the file. */
  private Node.@Nullable Scalar scalar(String key) {
    asked.add(key);
    Node.@Nullable Scalar override = settings.override(path(key));
    if (override != null) {
      return override;
    }
    @Nullable Node node = file.entries().get(key);
    if (node == null || node instanceof Node.Scalar) {
      return (Node.Scalar) node;
    }
    settings.problem(node.origin(), path(key), "expected a single value");
    return null;
  }

  private <T> @Nullable T read(
      String key, @Nullable T otherwise, Function<String, T> parse, Function<T, String> show) {
    Node.@Nullable Scalar scalar = scalar(key);
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
