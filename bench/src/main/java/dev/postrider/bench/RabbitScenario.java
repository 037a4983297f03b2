package dev.postrider.bench;

import dev.postrider.destination.Destination;
import dev.postrider.envelope.Envelope;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.rabbitmq.RabbitConfig;
import dev.postrider.rabbitmq.RabbitDestination;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.testkit.RabbitServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How fast a relay brings a backlog to RabbitMQ, against publishing the same bodies from memory.
 */
final class RabbitScenario implements Scenario {
  private static final int MESSAGES_MAX = 100_000;

  /** So many that a relay's start is a small part of the time. */
  private static final int ONE_BY_ONE_MAX = 10_000;

  private static final long LIMIT_MINUTES = 20;

  @Override
  public String name() {
    return "rabbitmq";
  }

  @Override
  public String summary() {
    return "a backlog to RabbitMQ with confirms, against a bare client";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    int messages = Math.min(options.messages(), MESSAGES_MAX);
    Drain drain = Drain.of(database, options);
    Shape orders = Shape.topic("orders");
    try (RabbitServer server = RabbitServer.start()) {
      Rounds rounds = new Rounds(database.meter());
      rounds.variant(
          "bare client",
          () -> {
            drain.load(orders, messages);
            try (BarePublisher bare = new BarePublisher(server.port())) {
              return bare.publish(bodies(database));
            }
          });
      rounds.variant(
          "relay",
          () -> {
            drain.load(orders, messages);
            try (BarePublisher queue = new BarePublisher(server.port())) {
              double rate = relay(database, server, messages, options.workers());
              queue.expect(messages);
              return rate;
            }
          });
      int few = Math.min(messages, ONE_BY_ONE_MAX);
      rounds.variant(
          "bare client, each confirmed",
          () -> {
            drain.load(orders, few);
            try (BarePublisher bare = new BarePublisher(server.port())) {
              return bare.publishOneByOne(bodies(database));
            }
          });
      rounds.variant(
          "relay hot key",
          () -> {
            drain.load(orders.key("'hot'"), few);
            try (BarePublisher queue = new BarePublisher(server.port())) {
              double rate = relay(database, server, few, options.workers());
              queue.expect(few);
              return rate;
            }
          });
      rounds.run(1);
      Rounds.Result result = rounds.run(options.drainRounds());
      report.rates("messages/s", result);
      report.ratio("rabbitmq_vs_bare", result.ratio("relay", "bare client"));
      report.ratio(
          "rabbitmq_hot_key_vs_bare_confirmed",
          result.ratio("relay hot key", "bare client, each confirmed"));
    }
  }

  private static List<byte[]> bodies(BenchDatabase database) throws Exception {
    List<byte[]> bodies = new ArrayList<>();
    try (Connection connection = database.transaction();
        Statement statement = connection.createStatement()) {
      statement.setFetchSize(1000);
      try (ResultSet rows = statement.executeQuery("select payload from postrider.message")) {
        while (rows.next()) {
          bodies.add(rows.getBytes(1));
        }
      }
    }
    return bodies;
  }

  private static double relay(
      BenchDatabase database, RabbitServer server, int messages, int workers) throws Exception {
    Counting destination =
        new Counting(
            RabbitDestination.open(
                RabbitConfig.to(Broker.at(server.address()).build())
                    .exchange(BarePublisher.EXCHANGE)
                    .routingKey("{topic}")
                    .envelope(Envelope.payload())
                    .build()),
            messages);
    Relay relay =
        Relay.builder(database.dataSource())
            // As its page advises: confirms trickle in, and smaller batches keep both ends busy.
            .config(RelayConfig.defaults().withCarriers(workers).withBatchSize(500))
            .destination("rabbit", destination)
            .route("bench", "orders", "rabbit")
            .build();
    database.meter().start();
    long start = System.nanoTime();
    relay.start();
    destination.await();
    relay.close(); // settles the last ones: part of the work
    double seconds = (System.nanoTime() - start) / 1e9;
    database.meter().stop(messages);
    return messages / seconds;
  }

  /** Tells when all are delivered. */
  private record Counting(Destination inner, CountDownLatch left) implements Destination {
    Counting(Destination inner, int messages) {
      this(inner, new CountDownLatch(messages));
    }

    @Override
    public void deliver(List<Message> batch, Answers answers) {
      inner.deliver(
          batch,
          new Answers() {
            @Override
            public void answer(UUID id, Outcome outcome) {
              answers.answer(id, outcome);
              if (outcome instanceof Outcome.Delivered) {
                left.countDown();
              }
            }

            @Override
            public @Nullable Message deliveredNext(UUID id) {
              Message next = answers.deliveredNext(id);
              left.countDown();
              return next;
            }
          });
    }

    void await() throws InterruptedException {
      if (!left.await(LIMIT_MINUTES, TimeUnit.MINUTES)) {
        throw new IllegalStateException(left.getCount() + " messages were not delivered");
      }
    }

    @Override
    public void close() {
      inner.close();
    }
  }
}
