package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.Table;
import dev.postrider.cli.output.Words;
import dev.postrider.message.Route;
import dev.postrider.operations.Subscriptions;
import dev.postrider.operations.Subscriptions.Subscription;
import dev.postrider.replay.Replay;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The subscriptions of topics. */
@Command(
    name = "subscriptions",
    description = {
      "List, add and remove subscriptions: each gets every message of its topic.",
      "A topic that is not listed has one subscription, without a name."
    },
    subcommands = {SubscriptionsCommand.Add.class, SubscriptionsCommand.Remove.class},
    footer = {
      "  ./postrider subscriptions",
      "  ./postrider subscriptions add shop/orders mail",
      "  ./postrider subscriptions remove shop/orders mail"
    })
final class SubscriptionsCommand extends PostriderCommand {
  private static final long MOST = Subscriptions.PENDING_MOST - 1;

  @Override
  int run(Context context) throws Exception {
    List<Subscription> all = new Subscriptions(context.dataSource(), context.schema()).list();
    if (context.json()) {
      screen()
          .json(
              new Fields()
                  .with("items", all.stream().map(SubscriptionsCommand::json).toList())
                  .map());
      return ExitCode.OK;
    }
    if (all.isEmpty()) {
      screen().note("every topic has one subscription; add another with subscriptions add");
      return ExitCode.OK;
    }
    Table table = new Table("topic", "subscription", "state", "pending", "since");
    for (Subscription each : all) {
      table.row(
          each.route().withoutSubscription(),
          MessageView.subscription(each.route()),
          each.catchingUp() ? "catching up" : each.active() ? "active" : "removed",
          text(each.pending()),
          Words.time(each.createdAt()));
    }
    screen().table(table);
    return ExitCode.OK;
  }

  private static Map<String, Object> json(Subscription each) {
    return new Fields()
        .with("namespace", each.route().namespace())
        .with("topic", each.route().topic())
        .with("subscription", MessageView.subscription(each.route()))
        .with("active", each.active())
        .with("catching_up", each.catchingUp())
        .with("pending", shown(each.pending()))
        .with("pending_at_least", each.pending() > MOST)
        .with("created_at", each.createdAt())
        .map();
  }

  private static long shown(long pending) {
    return Math.min(pending, MOST);
  }

  private static String text(long pending) {
    return pending > MOST ? MOST + "+" : Long.toString(pending);
  }

  private static Route route(PostriderCommand command, String topic, String name) {
    int slash = topic.indexOf('/');
    if (slash < 1 || slash == topic.length() - 1) {
      throw command.usage("a topic is named namespace/topic, got \"" + topic + "\"");
    }
    String namespace = topic.substring(0, slash).replace("%2F", "/").replace("%25", "%");
    return new Route(namespace, topic.substring(slash + 1), name);
  }

  private static Fields answer(Route route, boolean changed) {
    return new Fields()
        .with("namespace", route.namespace())
        .with("topic", route.topic())
        .with("subscription", MessageView.subscription(route))
        .with("changed", changed);
  }

  private static int answer(Context context, Route route, Fields answer, String what) {
    if (context.json()) {
      context.screen().json(answer.map());
    } else {
      context
          .screen()
          .line(
              "subscription %s of %s %s"
                  .formatted(MessageView.subscription(route), route.withoutSubscription(), what));
    }
    return ExitCode.OK;
  }

  /** Adds one. */
  @Command(
      name = "add",
      description = {
        "Add a subscription. It gets every message committed from now on.",
        "With --from it gets earlier messages first. Those that are committed meanwhile wait until"
            + " it has them."
      },
      footer = {
        "  ./postrider subscriptions add shop/orders mail",
        "  ./postrider subscriptions add shop/orders mail --from 2026-11-01T00:00:00Z --rate 500"
      })
  static final class Add extends PostriderCommand {
    private static final Pattern MESSAGE_ID =
        Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

    @Parameters(index = "0", paramLabel = "TOPIC", description = "namespace/topic")
    String topic = "";

    @Parameters(index = "1", paramLabel = "NAME", description = "The subscription's name.")
    String name = "";

    @Option(
        names = "--from",
        paramLabel = "TIME",
        description =
            "Messages of this time or later: 2026-11-01T00:00:00Z, or how long ago, such as 2h; or"
                + " the id of the first message.")
    @Nullable String from;

    @Option(
        names = "--rate",
        paramLabel = "N",
        description = "Maximum earlier messages per second.")
    @Nullable Double rate;

    @Override
    int run(Context context) throws Exception {
      ReplayCommand.checkRate(this, rate);
      Route route = route(this, topic, name);
      Subscriptions subscriptions = new Subscriptions(context.dataSource(), context.schema());
      if (from != null) {
        return catchUp(context, subscriptions, route, from);
      } else if (rate != null) {
        throw usage("--rate goes with --from");
      }
      boolean added = subscriptions.add(context.actor(), route);
      return answer(context, route, answer(route, added), added ? "added" : "was there already");
    }

    private int catchUp(Context context, Subscriptions subscriptions, Route route, String start)
        throws Exception {
      @Nullable Long job =
          MESSAGE_ID.matcher(start).matches()
              ? subscriptions.add(context.actor(), route, UUID.fromString(start))
              : subscriptions.add(context.actor(), route, Options.time(this, "--from", start));
      if (job == null) {
        return answer(context, route, answer(route, false), "was there already");
      }
      screen().note("added; its earlier messages come with replay " + job);
      Replay replay = new Replay(context.dataSource(), context.schema());
      return ReplayCommand.carryOut(context, replay, job, rate, 0);
    }
  }

  /** Removes one. */
  @Command(
      name = "remove",
      description = {
        "Remove a subscription. It gets no message committed from now on.",
        "Messages that wait for it are still delivered, or discarded with --discard. Take it out of"
            + " the relays' routes before they start again, or they add it again."
      },
      footer = {
        "  ./postrider subscriptions remove shop/orders mail --yes",
        "  ./postrider subscriptions remove shop/orders mail --discard --reason \"no longer used\""
      })
  static final class Remove extends PostriderCommand {
    @Parameters(index = "0", paramLabel = "TOPIC", description = "namespace/topic")
    String topic = "";

    @Parameters(
        index = "1",
        paramLabel = "NAME",
        description = "The subscription's name; default is the one without a name.")
    String name = "";

    @Option(
        names = {"-y", "--yes"},
        description = "Do not ask.")
    boolean yes;

    @Option(names = "--discard", description = "Discard the messages that wait for it.")
    boolean discard;

    @Option(
        names = "--reason",
        paramLabel = "TEXT",
        description = "The reason; recorded with each message.")
    @Nullable String reason;

    @Override
    int run(Context context) throws Exception {
      if (discard != (reason != null)) {
        throw usage("--discard and --reason go together");
      }
      Route route = route(this, topic, name);
      Subscriptions subscriptions = new Subscriptions(context.dataSource(), context.schema());
      context.confirm(
          yes,
          "%s; %s. Remove?"
              .formatted(
                  waiting(subscriptions.pending(route)),
                  discard ? "they are discarded" : "they are still delivered"));
      boolean removed = subscriptions.remove(context.actor(), route, discard);
      Fields answer = answer(route, removed);
      if (reason != null) {
        long gone = subscriptions.discard(context.actor(), route, reason, count -> true);
        answer.with("discarded", gone);
        context.screen().note("discarded " + Words.count(gone, "message"));
      }
      long pending = subscriptions.pending(route);
      answer.with("pending", shown(pending)).with("pending_at_least", pending > MOST);
      return answer(
          context, route, answer, removed ? "removed; " + waiting(pending) : "was not there");
    }

    private static String waiting(long pending) {
      return "%s message%s for it".formatted(text(pending), pending == 1 ? " waits" : "s wait");
    }
  }
}
