package dev.postrider.bench;

import dev.postrider.bench.peer.Payload;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import dev.postrider.operations.Subscriptions;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.schema.Schema;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A topic with 1, 2 and 8 subscriptions, each with a destination of its own: deliveries per second
 * of a backlog, and what an enqueue costs. The number of deliveries is the same for all of them.
 */
final class FanOutScenario implements Scenario {
  private static final int[] SIZES = {1, 2, 8};
  private static final int SLICES = 4;
  private static final long LIMIT_SECONDS = 60;
  private static final Duration WARM_UP = Duration.ofMillis(300);

  private final Outbox outbox = new Outbox();

  @Override
  public String name() {
    return "fan-out";
  }

  @Override
  public String summary() {
    return "a topic with 1, 2 and 8 subscriptions: deliveries, and the cost of an enqueue";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    Subscriptions subscriptions = new Subscriptions(database.dataSource(), Schema.DEFAULT);
    for (int size : SIZES) {
      for (int i = 1; i < size; i++) {
        subscriptions.add("bench", new Route("bench", topic(size), "s" + i));
      }
    }
    drain(database, options, report);
    enqueue(database, options, report);
  }

  private static void drain(BenchDatabase database, Options options, Report report)
      throws Exception {
    Drain drain = Drain.of(database, options);
    Rounds rounds = new Rounds(database.meter());
    for (int size : SIZES) {
      Shape shape = Shape.topic(topic(size));
      int messages = Math.max(1, options.messages() / size);
      rounds.variant(name(size), () -> rate(drain, shape, messages, size));
      rounds.variant(name(size) + " keyed", () -> rate(drain, shape.keyed(), messages, size));
    }
    rounds.run(1);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("deliveries/s", result);
    report.ratio("fan_out_2_vs_1", result.ratio(name(2), name(1)));
    report.ratio("fan_out_8_vs_1", result.ratio(name(8), name(1)));
    report.figure("fan_out_keyed_2_vs_1", result.ratio(name(2) + " keyed", name(1) + " keyed"));
    report.figure("fan_out_keyed_8_vs_1", result.ratio(name(8) + " keyed", name(1) + " keyed"));
  }

  private static double rate(Drain drain, Shape shape, int messages, int size) throws Exception {
    drain.load(shape, messages);
    long deliveries = (long) messages * size;
    AtomicLong arrived = new AtomicLong();
    CountDownLatch all = new CountDownLatch(1);
    Relay relay = relay(drain, size, deliveries, arrived, all);
    Meter meter = drain.database().meter();
    meter.start();
    long start = System.nanoTime();
    relay.start();
    boolean ended = all.await(LIMIT_SECONDS, TimeUnit.SECONDS);
    relay.close(); // settles the last ones: part of the work
    double seconds = (System.nanoTime() - start) / 1e9;
    meter.stop(Math.max(1, arrived.get()));
    if (!ended) {
      System.err.printf(
          "a drain was stopped after %d s: %d of %d deliveries were done%n",
          LIMIT_SECONDS, arrived.get(), deliveries);
    }
    return arrived.get() / seconds;
  }

  private static Relay relay(
      Drain drain, int size, long deliveries, AtomicLong arrived, CountDownLatch all) {
    Relay.Builder builder =
        Relay.builder(drain.database().dataSource())
            .config(RelayConfig.defaults().withCarriers(drain.workers()));
    for (int i = 0; i < size; i++) {
      builder.destination(
          "d" + i,
          HandlerDestination.inline(
              message -> {
                if (arrived.incrementAndGet() == deliveries) {
                  all.countDown();
                }
                return Outcome.delivered();
              }));
      if (i == 0) {
        builder.route("bench", topic(size), "d0");
      } else {
        builder.subscription("bench", topic(size), "s" + i, "d" + i);
      }
    }
    return builder.build();
  }

  /**
   * No relay runs, so nothing is fanned out meanwhile, and no flag may be up that a relay raised
   * before it was closed: each enqueue would ring.
   */
  private void enqueue(BenchDatabase database, Options options, Report report) throws Exception {
    AtomicLong counter = new AtomicLong();
    Duration slice = options.round().dividedBy(SLICES);
    Backlog backlog = new Backlog(database, Schema.DEFAULT);
    try (Producers producers = new Producers(database, options.producers())) {
      Rounds rounds = new Rounds(database.meter());
      for (int size : SIZES) {
        Producers.Writes writes =
            connection ->
                outbox.enqueue(
                    connection,
                    NewMessage.to("bench", topic(size))
                        .json(Payload.json(counter.incrementAndGet()))
                        .build());
        rounds.variant(enqueue(size), () -> producers.rate(WARM_UP, slice, writes));
      }
      Rounds.Result result = new Rounds.Result(Map.of(), Map.of());
      for (int i = 0; i < options.rounds(); i++) {
        backlog.clear();
        database.execute("select postrider.disarm_doorbell(array(select id from postrider.route))");
        database.settle();
        rounds.run(1); // plans are made anew
        result = result.and(rounds.run(SLICES));
      }
      report.rates("enqueues/s", result);
      report.figure("enqueue_fan_out_2_vs_1", result.ratio(enqueue(2), enqueue(1)));
      report.ratio("enqueue_fan_out_8_vs_1", result.ratio(enqueue(8), enqueue(1)));
    }
  }

  private static String topic(int size) {
    return "of-" + size;
  }

  private static String enqueue(int size) {
    return "enqueue, " + name(size);
  }

  private static String name(int size) {
    return size == 1 ? "1 subscription" : size + " subscriptions";
  }
}
