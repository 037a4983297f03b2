package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.monitor.Why;
import dev.postrider.message.Route;
import dev.postrider.operations.DeliveryStatus;
import dev.postrider.operations.Messages;
import dev.postrider.operations.StoredMessage;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Searches messages. */
@Command(
    name = "messages",
    description = "Search messages, newest first.",
    subcommands = {
      MessagesCommand.Search.class,
      MessagesCommand.Show.class,
      MessagesCommand.Explain.class
    },
    footer = {
      "  ./postrider messages search --namespace shop --topic orders --from 2h",
      "  ./postrider messages --aggregate-type order --aggregate-id o-1",
      "  ./postrider messages show 019a8b5e-5d0c-7c52-a3a4-0f6a8e2f1b7d --payload",
      "  ./postrider messages why 019a8b5e-5d0c-7c52-a3a4-0f6a8e2f1b7d"
    })
final class MessagesCommand extends MessageSearch {

  /** The same by its name. */
  @Command(
      name = "search",
      description = "Search messages, newest first. Same as messages.",
      footer = "  ./postrider messages search --aggregate-type order --aggregate-id o-1")
  static final class Search extends MessageSearch {}

  /** Shows one message. */
  @Command(
      name = "show",
      description = "Show one message with its deliveries and all attempts.",
      footer = "  ./postrider messages show 019a8b5e-5d0c-7c52-a3a4-0f6a8e2f1b7d --payload")
  static final class Show extends PostriderCommand {
    @Parameters(paramLabel = "ID", description = "The message's id.")
    String id = "";

    @Option(names = "--payload", description = "Show the payload too.")
    boolean payload;

    @Override
    int run(Context context) throws Exception {
      UUID wanted = Options.id(this, id);
      Messages messages = new Messages(context.dataSource(), context.schema());
      StoredMessage message =
          messages
              .find(wanted)
              .orElseThrow(() -> new Failure(ExitCode.TROUBLE, "there is no message " + wanted));
      List<DeliveryStatus> deliveries = messages.deliveries(wanted);
      MessageView.Details details =
          new MessageView.Details(
              message,
              deliveries,
              messages.attempts(wanted),
              destinations(context, message.status().route(), deliveries));
      if (context.json()) {
        screen().json(MessageView.json(details, payload));
      } else {
        MessageView.print(screen(), details, payload);
      }
      return ExitCode.OK;
    }

    private static Map<String, List<String>> destinations(
        Context context, Route topic, List<DeliveryStatus> deliveries) throws SQLException {
      Fleet fleet = new Fleet(context.dataSource(), context.schema());
      Map<String, List<String>> destinations = new HashMap<>();
      destinations.put("", fleet.destinationsOf(topic.withoutSubscription()));
      for (DeliveryStatus delivery : deliveries) {
        String name = delivery.subscription();
        if (!name.isEmpty()) {
          Route route = new Route(topic.namespace(), topic.topic(), name);
          destinations.put(name, fleet.destinationsOf(route));
        }
      }
      return destinations;
    }
  }

  /** Says what holds one message back. */
  @Command(
      name = "why",
      description = "Show why a message is not delivered.",
      footer = "  ./postrider messages why 019a8b5e-5d0c-7c52-a3a4-0f6a8e2f1b7d")
  static final class Explain extends PostriderCommand {
    @Parameters(paramLabel = "ID", description = "The message's id.")
    String id = "";

    @Override
    int run(Context context) throws Exception {
      UUID wanted = Options.id(this, id);
      List<Why.Reason> reasons = new Why(context.dataSource(), context.schema()).ask(wanted);
      if (reasons.isEmpty()) {
        throw new Failure(ExitCode.TROUBLE, "there is no message " + wanted);
      }
      if (context.json()) {
        screen()
            .json(
                new Fields()
                    .with("id", wanted)
                    .with("reasons", reasons.stream().map(Explain::json).toList())
                    .map());
        return ExitCode.OK;
      }
      for (Why.Reason reason : reasons) {
        screen().line((reason.message().equals(wanted) ? "" : "  that message: ") + reason.text());
      }
      return ExitCode.OK;
    }

    private static Map<String, Object> json(Why.Reason reason) {
      return new Fields()
          .with("message", reason.message())
          .with("subscription", reason.subscription())
          .with("reason", reason.reason())
          .with("since", reason.since())
          .with("until", reason.until())
          .with("relay", reason.relay())
          .with("destination", reason.destination())
          .with("other", reason.other())
          .with("code", reason.code())
          .with("count", reason.count())
          .with("text", reason.text())
          .map();
    }
  }
}
