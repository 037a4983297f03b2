package dev.postrider.examples.payments;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;

/** Where rails write down what they paid: once per message, however often it comes. Thread-safe. */
record RailBooks(DataSource dataSource, Rail rail) {
  private static final String BOOK =
      """
      insert into rails.booking (rail, message, instruction, participant, sequence)
      values (?, ?, ?, ?, ?) on conflict (message) do nothing
      """;
  private static final String REFERENCE =
      "select rail || '-' || no from rails.booking where message = ?";

  /** What a rail needs to know of a payment. */
  record Entry(UUID message, String instruction, String participant, long sequence) {}

  /** Books a payment, unless it is booked; returns the booking's reference. */
  String book(Entry entry) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement book = connection.prepareStatement(BOOK);
        PreparedStatement find = connection.prepareStatement(REFERENCE)) {
      book.setString(1, rail.topic());
      book.setObject(2, entry.message());
      book.setString(3, entry.instruction());
      book.setString(4, entry.participant());
      book.setLong(5, entry.sequence());
      book.executeUpdate();
      find.setObject(1, entry.message());
      try (ResultSet row = find.executeQuery()) {
        row.next();
        return row.getString(1);
      }
    }
  }
}
