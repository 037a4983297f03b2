package dev.postrider.internal.protocol;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * A worker that claims at random and then does anything that a worker may do or suffer: delivers,
 * retries, gives up, releases, and lets its lease lapse without noticing. Keeps to the rules: a
 * key's run in its order, and after a failure the rest of the run is released. Not thread-safe.
 */
final class ModelWorker {
  private static final String CLAIM =
      "select id, token, key_id from postrider.claim_from(?, ?, ?, 60000, ?, p_alone => ?)"
          + " where id is not null";
  private static final String SETTLE =
      "select postrider.settle(?, array[?::uuid], array[?::bigint], array[?::smallint], null,"
          + " array[?::bigint])";

  private record Row(UUID id, long token, long key) {}

  private final Connection connection;
  private final Random random;
  private final int worker;
  private final Consumer<UUID> sent;

  ModelWorker(Connection connection, Random random, int worker, Consumer<UUID> sent) {
    this.connection = connection;
    this.random = random;
    this.worker = worker;
    this.sent = sent;
  }

  /** One claim and what becomes of it. */
  void turn() throws SQLException {
    List<Row> claimed = claim();
    Map<Object, List<Row>> runs = new LinkedHashMap<>();
    for (Row row : claimed) {
      Object run = row.key() == 0 ? row.id() : (Object) row.key();
      runs.computeIfAbsent(run, key -> new ArrayList<>()).add(row);
    }
    if (!claimed.isEmpty() && random.nextInt(12) == 0) {
      lapse(claimed.get(0).token());
    }
    for (List<Row> run : runs.values()) {
      process(run);
    }
  }

  private void process(List<Row> run) throws SQLException {
    boolean failed = false;
    for (Row row : run) {
      int chance = random.nextInt(100);
      if (failed || chance < 4) {
        failed = true;
        settle(row, 5);
      } else {
        sent.accept(row.id());
        int outcome = chance < 12 ? 2 : chance < 15 ? 3 : chance < 16 && row.key() != 0 ? 4 : 1;
        boolean accepted = settle(row, outcome);
        failed = !accepted || outcome == 2 || outcome == 4;
      }
    }
  }

  private List<Row> claim() throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(CLAIM)) {
      call.setInt(1, worker);
      call.setInt(2, 1 + random.nextInt(40));
      call.setLong(3, 1 + random.nextInt(1000));
      Integer[] routes = random.nextInt(4) == 0 ? new Integer[] {1} : new Integer[] {1, 2, 3};
      call.setArray(4, connection.createArrayOf("int4", routes));
      call.setBoolean(5, random.nextInt(4) == 0);
      List<Row> rows = new ArrayList<>();
      try (ResultSet row = call.executeQuery()) {
        while (row.next()) {
          rows.add(new Row(row.getObject(1, UUID.class), row.getLong(2), row.getLong(3)));
        }
      }
      return rows;
    }
  }

  /** Whether it was accepted. */
  private boolean settle(Row row, int outcome) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(SETTLE)) {
      call.setInt(1, worker);
      call.setObject(2, row.id());
      call.setLong(3, row.token());
      call.setInt(4, outcome);
      call.setInt(5, random.nextInt(60));
      try (ResultSet answer = call.executeQuery()) {
        answer.next();
        Array refused = answer.getArray(1);
        return ((UUID[]) refused.getArray()).length == 0;
      }
    }
  }

  /** The worker stalls for longer than its lease, and does not know. */
  private void lapse(long token) throws SQLException {
    try (PreparedStatement call =
        connection.prepareStatement(
            "update postrider.lease set until = now() - interval '1 s' where token = ?")) {
      call.setLong(1, token);
      call.execute();
    }
  }
}
