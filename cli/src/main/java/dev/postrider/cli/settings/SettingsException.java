package dev.postrider.cli.settings;

import dev.postrider.message.PostriderException;
import java.util.List;
import java.util.stream.Collectors;

/** The configuration cannot be used; says everything that is wrong with it. */
public final class SettingsException extends PostriderException {
  private static final long serialVersionUID = 1L;

  /** Exceptions are serializable, problems are not. */
  private final transient List<SettingProblem> problems;

  public SettingsException(List<SettingProblem> problems) {
    super(
        "the configuration has %d error%s\n".formatted(problems.size(), plural(problems.size()))
            + problems.stream().map(p -> "  " + p).collect(Collectors.joining("\n")));
    this.problems = List.copyOf(problems);
  }

  private static String plural(int count) {
    return count == 1 ? "" : "s";
  }

  public List<SettingProblem> problems() {
    return problems;
  }
}
