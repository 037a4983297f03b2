package dev.postrider.bench.peer;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** One business transaction and its message. Used by one thread. */
public final class Order {
  /** The table of the business, the same for everybody. */
  public static final String TABLE =
      """
      create table if not exists business_order (
        id bigint generated always as identity primary key, customer text not null,
        total numeric not null, placed_at timestamptz not null default now());
      """;

  private static final int CUSTOMERS = 1_000;
  private static final String INSERT = "insert into business_order (customer, total) values (?, ?)";

  private final long number;
  private final String payload;
  private long committingNanos;

  public Order(long number) {
    this.number = number;
    this.payload = Payload.json(number);
  }

  public long number() {
    return number;
  }

  public String payload() {
    return payload;
  }

  /** The business insert. */
  public void insert(Connection connection) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setString(1, "customer-" + number % CUSTOMERS);
      insert.setBigDecimal(2, BigDecimal.valueOf(number % 100_000, 2));
      insert.executeUpdate();
    }
  }

  /** Said by a peer when all is written and only the commit is left. */
  public void committing() {
    committingNanos = System.nanoTime();
  }

  long committingNanos() {
    return committingNanos;
  }
}
