package dev.postrider.cli.settings;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The layers that values are looked for in: flags before the environment before the file. Reading
 * goes through {@link Section}; what nobody asked for is a mistake of whoever wrote it, and {@link
 * #finish} says so. Used by one thread.
 */
public final class Settings {
  /** The first part of every path. */
  public static final String ROOT = "postrider";

  private static final String PREFIX = "POSTRIDER_";

  /** Read by others than the configuration. */
  private static final Set<String> OTHERS =
      Set.of("POSTRIDER_CONFIG", "POSTRIDER_JAVA_OPTS", "POSTRIDER_BUILD");

  /** What Kubernetes puts into every container about a service called postrider or postrider-x. */
  private static final Pattern KUBERNETES =
      Pattern.compile("POSTRIDER_(?:\\w+_)?(?:SERVICE_(?:HOST|PORT)\\w*|PORT|PORT_\\d+_\\w+)");

  private static final Set<String> OWN_PORTS =
      Set.of("POSTRIDER_SERVER_PORT", "POSTRIDER_RELAY_MONITOR_PORT");

  private final Map<String, Flag> flags;
  private final Map<String, String> environment = new TreeMap<>();
  private Node.Mapping file;
  private final Set<String> used = new HashSet<>();
  private final Set<String> known = new HashSet<>();
  private final List<SettingProblem> problems = new ArrayList<>();
  private final List<SettingProblem> warnings = new ArrayList<>();
  private final List<Effective> effective = new ArrayList<>();

  /** A value from the command line, with the flag that it came by. Immutable. */
  public record Flag(String value, String flag) {}

  /** A value as it is in effect, secrets masked. Immutable. */
  public record Effective(String path, String value, Origin origin) {}

  private Settings(Map<String, Flag> flags, Map<String, String> variables, @Nullable Path file) {
    this.flags = new LinkedHashMap<>(flags);
    variables.forEach(
        (name, value) -> {
          if (name.startsWith(PREFIX) && !value.isBlank() && !others(name, value)) {
            environment.put(name, value);
          }
        });
    this.file = file == null ? Node.Mapping.empty(Origin.DEFAULT) : YamlFile.read(file, problems);
  }

  /**
   * Collects the layers.
   *
   * @param flags by path
   * @param variables the environment, of which only {@code POSTRIDER_*} counts
   * @param file null if there is none
   */
  public static Settings of(
      Map<String, Flag> flags, Map<String, String> variables, @Nullable Path file) {
    return new Settings(flags, variables, file);
  }

  /** A service called postrider-server has POSTRIDER_SERVER_PORT too, and in it a URL. */
  private static boolean others(String name, String value) {
    return OTHERS.contains(name)
        || (KUBERNETES.matcher(name).matches()
            && !(OWN_PORTS.contains(name) && !value.contains("/")));
  }

  /**
   * Forgets what was given for a key under the root: a command that does not use it neither checks
   * it nor reads its secrets.
   */
  public void leaveOut(String key) {
    String path = ROOT + "." + key;
    flags.keySet().removeIf(flag -> flag.startsWith(path + ".") || flag.startsWith(path + "["));
    environment.keySet().removeIf(name -> name.startsWith(variable(path) + "_"));
    if (file.entries().get(ROOT) instanceof Node.Mapping root && root.entries().containsKey(key)) {
      Map<String, Node> rest = new LinkedHashMap<>(root.entries());
      rest.remove(key);
      Map<String, Node> entries = new LinkedHashMap<>(file.entries());
      entries.put(ROOT, new Node.Mapping(rest, root.origin()));
      file = new Node.Mapping(entries, file.origin());
    }
  }

  /** Where reading starts. */
  public Section root() {
    for (Map.Entry<String, Node> entry : file.entries().entrySet()) {
      if (!entry.getKey().equals(ROOT)) {
        problem(
            entry.getValue().origin(),
            entry.getKey(),
            "unknown key; everything stands under \"" + ROOT + "\"");
      }
    }
    return new Section(this, ROOT, file.entries().get(ROOT));
  }

  /** Says what was given and not asked for, and fails with all problems if there are any. */
  public void finish() {
    environment.forEach(
        (name, value) -> {
          if (!used.contains(name)) {
            Set<String> names = new HashSet<>();
            known.forEach(path -> names.add(variable(path)));
            problem(new Origin(name), "", "unknown variable; " + Suggestion.of(name, names));
          }
        });
    flags.forEach(
        (path, flag) -> {
          if (!used.contains(path)) {
            problem(
                new Origin(flag.flag()), path, "unknown setting; " + Suggestion.of(path, known));
          }
        });
    if (!problems.isEmpty()) {
      throw new SettingsException(problems);
    }
  }

  /** What was given and is ignored. */
  public List<SettingProblem> warnings() {
    return List.copyOf(warnings);
  }

  /** Everything that was read, in the order of reading. */
  public List<Effective> effective() {
    return List.copyOf(effective);
  }

  /** The environment's name for a path: upper case, everything else an underscore. */
  static String variable(String path) {
    return path.replaceAll("[^A-Za-z0-9]+", "_").toUpperCase(Locale.ROOT);
  }

  void problem(Origin origin, String path, String text) {
    problems.add(new SettingProblem(origin, path, text));
  }

  /** Says that a variable is ignored, and why; it is no error then. */
  void ignore(String variable, String why) {
    used.add(variable);
    warnings.add(new SettingProblem(new Origin(variable), "", why));
  }

  void show(String path, String value, Origin origin) {
    effective.add(new Effective(path, value, origin));
  }

  Set<String> variables() {
    return environment.keySet();
  }

  Set<String> flagPaths() {
    return flags.keySet();
  }

  /** A value from the command line or the environment, which beat the file. */
  Node.@Nullable Scalar override(String path) {
    known.add(path);
    String variable = variable(path);
    @Nullable String value = environment.get(variable);
    if (value != null) {
      used.add(variable);
    }
    @Nullable Flag flag = flags.get(path);
    if (flag != null) {
      used.add(path);
      return new Node.Scalar(flag.value(), new Origin(flag.flag()));
    }
    return value == null ? null : new Node.Scalar(value, new Origin(variable));
  }
}
