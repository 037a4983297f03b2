package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Words;
import dev.postrider.store.Pauses;
import picocli.CommandLine.Parameters;

/** What is paused or resumed. Filled by picocli. */
final class PauseTarget {
  @Parameters(index = "0", paramLabel = "KIND", description = "destination or topic")
  Pauses.Kind kind = Pauses.Kind.TOPIC;

  @Parameters(
      index = "1",
      paramLabel = "NAME",
      description = "The destination's name, or namespace/topic.")
  String name = "";

  void check(PostriderCommand command) {
    if (kind == Pauses.Kind.TOPIC && name.indexOf('/') < 1) {
      throw command.usage("a topic is named namespace/topic, got \"" + name + "\"");
    }
  }

  int answer(Context context, boolean changed, String what) {
    if (context.json()) {
      context
          .screen()
          .json(new Fields().with("kind", kind).with("name", name).with("changed", changed).map());
    } else {
      context.screen().line("%s %s %s".formatted(Words.lower(kind), name, what));
    }
    return ExitCode.OK;
  }
}
