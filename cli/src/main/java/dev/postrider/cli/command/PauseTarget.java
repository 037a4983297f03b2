package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Words;
import dev.postrider.operations.Pauses;
import java.util.Arrays;
import java.util.Iterator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** What is paused or resumed. Filled by picocli. */
final class PauseTarget {
  @Parameters(
      index = "0",
      paramLabel = "KIND",
      description = "destination, topic or subscription",
      converter = KindByName.class,
      completionCandidates = KindNames.class)
  Pauses.Kind kind = Pauses.Kind.TOPIC;

  @Parameters(
      index = "1",
      paramLabel = "NAME",
      description =
          "The destination's name, namespace/topic, or namespace/topic#subscription; %%2F is a"
              + " slash in a namespace.")
  String name = "";

  /** The kinds as people write them. */
  static final class KindNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Arrays.stream(Pauses.Kind.values()).map(Words::lower).iterator();
    }
  }

  /** Reads a kind. */
  static final class KindByName implements ITypeConverter<Pauses.Kind> {
    @Override
    public Pauses.Kind convert(String text) {
      for (Pauses.Kind kind : Pauses.Kind.values()) {
        if (kind.name().equalsIgnoreCase(text)) {
          return kind;
        }
      }
      throw new TypeConversionException(
          "expected destination, topic or subscription, got \"" + text + "\"");
    }
  }

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
