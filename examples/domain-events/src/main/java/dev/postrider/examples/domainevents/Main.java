package dev.postrider.examples.domainevents;

import dev.postrider.examples.stage.Stage;
import dev.postrider.message.PostriderException;
import dev.postrider.operations.MessageStatus;
import dev.postrider.operations.Messages;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.relay.Relay;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.replay.ReplayJob;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.RabbitServer;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/** A group at work, its events on their way, and a replay of all of them that changes nothing. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) throws Exception {
    try {
      Stage.run(Main.class, arguments, Map.of("broker", ""), Main::play);
    } catch (PostriderException | IllegalStateException e) {
      System.err.println("domain-events: " + e.getMessage());
      System.err.println("It needs RabbitMQ: installed, or at --broker amqp://user:password@host");
      System.exit(1);
    }
  }

  private static void play(Stage stage) throws Exception {
    String given = stage.options().text("broker");
    if (!given.isEmpty()) {
      play(stage, Broker.uri(given).build());
      return;
    }
    stage.say("starting a RabbitMQ of our own; --broker amqp://user:password@host takes yours");
    // Not closed at exit by itself: after Ctrl-C the relay and the consumers still need it.
    try (RabbitServer server = RabbitServer.start(Map.of(), false)) {
      play(stage, Broker.uri(server.uri()).build());
    }
  }

  private static void play(Stage stage, Broker broker) throws Exception {
    Events.topology().declare(broker);
    stage.begin();
    stage.say("exchange, queues, bindings and dead letters are declared; Ctrl-C ends");
    Company north = new Company(stage.dataSource(), "acme", "north");
    Company south = new Company(stage.dataSource(), "acme", "south");
    Instant start = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    try (Relay relay = Events.relay(stage.dataSource(), broker).start();
        Consumers consumers = new Consumers(broker, stage.dataSource())) {
      Random random = new Random(1);
      UUID order = day(north, random);
      Instant reported = start;
      while (stage.goesOn(Duration.ofMillis(50))) {
        order = day(random.nextBoolean() ? north : south, random);
        if (Instant.now().isAfter(reported.plusSeconds(1))) {
          reported = Instant.now();
          report(stage);
        }
      }
      stage.untilNone(Books.UNDONE);
      trace(stage, order);
      compare(stage);
      if (stage.isStopped()) {
        stage.say("stopped by Ctrl-C; without it all events are replayed at the end");
        return;
      }
      replay(stage, start, Instant.now().truncatedTo(ChronoUnit.MILLIS));
      // Each queue keeps its order: when these are done, what was replayed is behind us.
      day(south, random);
      stage.untilNone(Books.UNDONE);
      compare(stage);
    }
  }

  /** One of everything. */
  private static UUID day(Company company, Random random) throws SQLException {
    String sku = "sku-" + random.nextInt(10);
    String amount = String.format(Locale.ROOT, "%d.%02d", random.nextInt(900), random.nextInt(100));
    UUID order = company.order("customer-" + random.nextInt(50), sku, amount);
    company.moveStock(sku, -1);
    company.invoice(order, amount);
    company.setPrice(sku, amount);
    if (random.nextInt(4) == 0) {
      company.cancel(order);
      company.moveStock(sku, 1);
    }
    return order;
  }

  private static void report(Stage stage) throws SQLException {
    stage.say(
        "events %5d   waiting %4d   effects %5d",
        stage.count("select count(*) from postrider.message"),
        stage.count("select count(*) from postrider.queue"),
        stage.count("select count(*) from postrider.inbox"));
  }

  private static void trace(Stage stage, UUID order) throws SQLException {
    Messages messages = new Messages(stage.dataSource(), Schema.DEFAULT);
    for (MessageStatus event : messages.ofAggregate("order", order.toString(), null, 10)) {
      stage.say("%s.%s is %s".formatted(event.key(), event.eventType(), event.state()));
    }
  }

  private static void replay(Stage stage, Instant from, Instant to) throws SQLException {
    Replay replay = new Replay(stage.dataSource(), Schema.DEFAULT);
    ReplayFilter range = ReplayFilter.between(from, to);
    stage.say(
        "replay from %s to %s would send %d", from, to, replay.count(range, n -> {}).requeued());
    ReplayJob job = replay.start("example", range);
    ReplayJob done = replay.run("example", job.id(), Pacer.perSecond(2000), state -> true);
    stage.say("replayed %d events", done.requeued());
  }

  private static void compare(Stage stage) throws SQLException {
    for (Books.Line line : Books.LINES) {
      long happened = stage.count(line.happened());
      long done = stage.count(line.done());
      stage.say(
          "%8d %-31s %8d  %s",
          happened, line.what() + ":", done, happened == done ? "they match" : "THEY DO NOT MATCH");
    }
  }
}
