package dev.postrider.bench;

import dev.postrider.bench.peer.Payload;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a message costs the business transaction it travels with, as producers meet it: three round
 * trips (business insert, enqueue, commit) against two. No relay runs, so the doorbell is silent,
 * as it is while relays are busy.
 */
final class EnqueueScenario implements Scenario {
  private static final int KEYS = 1_000;

  /** A round is cut into slices, in turns: what disturbs the machine for a second hits them all. */
  private static final int SLICES = 4;

  private static final Duration WARM_UP = Duration.ofMillis(500);
  private static final Duration START = Duration.ofMillis(50);
  private static final String TABLES =
      """
      create table business_order (
        id bigint generated always as identity primary key, customer text not null,
        total numeric not null, placed_at timestamptz not null default now());
      create table plain_outbox (
        id uuid primary key default uuidv7(), topic text not null, payload text not null);
      """;
  private static final String BUSINESS =
      "insert into business_order (customer, total) values (?, ?)";
  private static final String PLAIN = "insert into plain_outbox (topic, payload) values (?, ?)";

  private final Outbox outbox = new Outbox();
  private final AtomicLong counter = new AtomicLong();

  @Override
  public String name() {
    return "enqueue";
  }

  @Override
  public String summary() {
    return "what a message costs the transaction that carries it";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    database.execute(TABLES);
    Map<String, Producers.Writes> variants = new LinkedHashMap<>();
    variants.put("business", this::business);
    variants.put("plain insert", this::plainInsert);
    variants.put("postrider", this::postrider);
    variants.put("postrider keyed dedupe", this::keyedDedupe);
    Duration slice = options.round().dividedBy(SLICES);
    try (Producers producers = new Producers(database, options.producers())) {
      Rounds rounds = new Rounds(database.meter());
      variants.forEach((name, w) -> rounds.variant(name, () -> producers.rate(START, slice, w)));
      Rounds.Result result = new Rounds.Result(Map.of(), Map.of());
      for (int i = 0; i < 4 * options.rounds(); i++) { // the noisiest scenario
        database.settle();
        // Plans are made anew, and the first change of a page since the checkpoint logs all of it.
        for (Producers.Writes writes : variants.values()) {
          producers.rate(WARM_UP, START, writes);
        }
        result = result.and(rounds.run(SLICES));
      }
      report.rates("commits/s", result);
      report.ratio("enqueue_vs_business", result.ratio("postrider", "business"));
      report.ratio("enqueue_vs_plain_insert", result.ratio("postrider", "plain insert"));
      report.ratio(
          "enqueue_keyed_dedupe_vs_business", result.ratio("postrider keyed dedupe", "business"));
    }
  }

  private void business(Connection connection) throws SQLException {
    insertOrder(connection, counter.incrementAndGet());
  }

  private void plainInsert(Connection connection) throws SQLException {
    long order = counter.incrementAndGet();
    insertOrder(connection, order);
    try (PreparedStatement insert = connection.prepareStatement(PLAIN)) {
      insert.setString(1, "orders");
      insert.setString(2, Payload.json(order));
      insert.executeUpdate();
    }
  }

  private void postrider(Connection connection) throws SQLException {
    long order = counter.incrementAndGet();
    insertOrder(connection, order);
    outbox.enqueue(connection, NewMessage.to("bench", "orders").json(Payload.json(order)).build());
  }

  private void keyedDedupe(Connection connection) throws SQLException {
    long order = counter.incrementAndGet();
    insertOrder(connection, order);
    outbox.enqueue(
        connection,
        NewMessage.to("bench", "orders")
            .json(Payload.json(order))
            .key("customer-" + order % KEYS)
            .dedupeKey("order-" + order)
            .build());
  }

  private static void insertOrder(Connection connection, long order) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(BUSINESS)) {
      insert.setString(1, "customer-" + order % KEYS);
      insert.setBigDecimal(2, BigDecimal.valueOf(order % 100_000, 2));
      insert.executeUpdate();
    }
  }
}
