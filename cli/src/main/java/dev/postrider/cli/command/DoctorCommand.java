package dev.postrider.cli.command;

import dev.postrider.cli.config.Config;
import dev.postrider.cli.config.ConfigPart;
import dev.postrider.cli.doctor.ArchiveCheck;
import dev.postrider.cli.doctor.CheckedDatabase;
import dev.postrider.cli.doctor.Doctor;
import dev.postrider.cli.doctor.Finding;
import dev.postrider.cli.doctor.Finding.Level;
import dev.postrider.cli.output.Colour;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Words;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Looks for what is wrong. */
@Command(
    name = "doctor",
    description = "Check for problems. Exit code 1 if there are any.",
    footer = "  ./postrider doctor --json")
final class DoctorCommand extends PostriderCommand {
  /** Before the text of a finding. */
  private static final int MARGIN = 23;

  @Override
  int run(Context context) throws Exception {
    List<Finding> findings =
        Doctor.examine(
            new CheckedDatabase(context.dataSource(), context.direct(), context.schema()));
    Config config = context.config(Map.of(), ConfigPart.of(ConfigPart.ARCHIVE));
    findings.addAll(ArchiveCheck.look(config.archive()));
    boolean trouble = findings.stream().anyMatch(f -> f.level() == Level.TROUBLE);
    if (context.json()) {
      screen()
          .json(
              new Fields()
                  .with("trouble", trouble)
                  .with("findings", findings.stream().map(DoctorCommand::json).toList())
                  .map());
    } else {
      findings.forEach(this::print);
    }
    return trouble ? ExitCode.TROUBLE : ExitCode.OK;
  }

  private void print(Finding finding) {
    Colour colour =
        switch (finding.level()) {
          case OK -> Colour.GOOD;
          case NOTE -> Colour.NOTE;
          case TROUBLE -> Colour.BAD;
        };
    List<String> text = Words.wrap(finding.text(), width());
    screen()
        .line(
            screen().paint(colour, "%-7s".formatted(Words.lower(finding.level()))),
            "  %-12s  %s".formatted(finding.check(), text.get(0)));
    text.subList(1, text.size()).forEach(line -> screen().line(" ".repeat(MARGIN), line));
    if (!finding.advice().isEmpty()) {
      Words.wrap(finding.advice(), width())
          .forEach(line -> screen().line(" ".repeat(MARGIN), screen().paint(Colour.FAINT, line)));
    }
  }

  private int width() {
    return Math.max(screen().terminal().columns() - MARGIN, 20);
  }

  private static Map<String, Object> json(Finding finding) {
    return new Fields()
        .with("check", finding.check())
        .with("level", finding.level())
        .with("text", finding.text())
        .with("advice", finding.advice().isEmpty() ? null : finding.advice())
        .map();
  }
}
