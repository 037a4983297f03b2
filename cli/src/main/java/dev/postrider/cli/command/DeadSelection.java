package dev.postrider.cli.command;

import dev.postrider.cli.output.Words;
import dev.postrider.deadletter.DeadLetter;
import dev.postrider.deadletter.DeadLetterPage;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.message.Route;
import dev.postrider.operations.Messages;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Dead letters to act on: by id, by conditions, or all of them. Filled by picocli. */
final class DeadSelection {
  @Parameters(paramLabel = "ID", arity = "0..*", description = "These dead letters.")
  List<String> ids = new ArrayList<>();

  @Mixin DeadFilterOptions filter = new DeadFilterOptions();

  @Option(names = "--all", description = "All of them.")
  boolean all;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask.")
  boolean yes;

  /** Refuses what could be a slip: nothing chosen, or chosen in two ways. */
  void check(PostriderCommand command) {
    Map<String, String> conditions = filter.conditions(command);
    if (byId()) {
      conditions.remove("subscription"); // these, but only there
    }
    int ways = (ids.isEmpty() ? 0 : 1) + (conditions.isEmpty() ? 0 : 1) + (all ? 1 : 0);
    if (ways == 0) {
      throw command.usage("which ones? Give ids, conditions, or --all");
    } else if (ways > 1) {
      throw command.usage("give ids, or conditions, or --all; not several of these");
    }
  }

  boolean byId() {
    return !ids.isEmpty();
  }

  /** Acts on a message's dead letters in one subscription; null means in all of them. */
  @FunctionalInterface
  interface Act {
    long on(UUID id, @Nullable Route subscription) throws SQLException;
  }

  /** How many dead letters it acted on, and the ids that had none. */
  record Done(long count, List<UUID> without) {
    int exitCode() {
      return without.isEmpty() ? ExitCode.OK : ExitCode.TROUBLE;
    }
  }

  /** Does it to each of the given ones. */
  Done each(PostriderCommand command, DeadLetters dead, Act act) throws SQLException {
    long count = 0;
    List<UUID> without = new ArrayList<>();
    for (UUID id : new LinkedHashSet<>(ids(command))) {
      long found = filter.subscription == null ? act.on(id, null) : inOne(dead, id, act);
      count += found;
      if (found == 0) {
        without.add(id);
      }
    }
    if (!without.isEmpty()) {
      command
          .screen()
          .note(
              "not dead: "
                  + without.stream().map(UUID::toString).collect(Collectors.joining(", ")));
    }
    return new Done(count, without);
  }

  private long inOne(DeadLetters dead, UUID id, Act act) throws SQLException {
    long count = 0;
    for (DeadLetter letter : dead.all(id)) {
      if (MessageView.subscription(letter.route()).equals(filter.subscription)) {
        count += act.on(id, letter.route());
      }
    }
    return count;
  }

  List<UUID> ids(PostriderCommand command) {
    return ids.stream().map(id -> Options.id(command, id)).toList();
  }

  /** How many are meant, in words; counted no further than a page. */
  String count(PostriderCommand command, DeadLetters dead) throws SQLException {
    if (byId()) {
      return Words.count(ids.size(), "dead letter");
    }
    DeadLetterPage page = dead.list(filter.filter(command), false, null, Messages.MAX_PAGE);
    return (page.next() == null ? "" : "at least ")
        + Words.count(page.items().size(), "dead letter");
  }
}
