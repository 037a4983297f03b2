package dev.postrider.cli.command;

import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;

/** Help that shows a command's own options, and says where the options of all are described. */
final class OwnOptionsHelp extends Help {
  private static final String ALL =
      "%nThe options of every command, such as --url and --json: ./postrider --help%n";

  OwnOptionsHelp(CommandSpec spec, ColorScheme colours) {
    super(spec, colours);
  }

  @Override
  public String optionList() {
    if (commandSpec().parent() == null) {
      return super.optionList();
    }
    return optionListExcludingGroups(
            commandSpec().options().stream().filter(option -> !option.inherited()).toList())
        + ALL.formatted();
  }
}
