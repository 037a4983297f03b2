package dev.postrider.cli.settings;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The values of one section of the configuration, by their keys. Used by one thread. */
abstract class SectionValues {
  /** Behind a secret's key: the path of the file that holds the secret. */
  static final String FILE = "-file";

  final Settings settings;
  final String path;
  final Node.Mapping file;
  final Set<String> asked = new TreeSet<>();

  SectionValues(Settings settings, String path, @Nullable Node node) {
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

  String path(String key) {
    return path + "." + key;
  }

  private static <T> T given(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  /** Returns the value of a key: of its flag, else of its variable, else of the file. */
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
