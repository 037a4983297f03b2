package dev.postrider.cli.command;

import dev.postrider.cli.output.Table;
import dev.postrider.cli.settings.Settings;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;

/** Shows the configuration in effect. */
@Command(
    name = "config",
    description = "Show the configuration in effect and where each value comes from.",
    footer = "  ./postrider config --config postrider.yaml")
final class ConfigCommand extends PostriderCommand {
  @Override
  int run(Context context) throws IOException {
    if (context.json()) {
      Map<String, Object> values = new LinkedHashMap<>();
      for (Settings.Effective setting : context.effective()) {
        values.put(
            setting.path(), Map.of("value", setting.value(), "source", setting.origin().where()));
      }
      screen().json(values);
      return ExitCode.OK;
    }
    Table table = new Table("setting", "value", "from").whole("setting");
    for (Settings.Effective setting : context.effective()) {
      table.row(
          setting.path(), setting.value().isEmpty() ? "-" : setting.value(), setting.origin());
    }
    screen().table(table);
    return ExitCode.OK;
  }
}
