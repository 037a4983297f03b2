package dev.postrider.examples.payments;

import dev.postrider.destination.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.sql.SQLException;
import java.util.Objects;
import java.util.function.Function;

/**
 * The bank behind the SEPA rail, in this process.
 *
 * @param codes what it answers to a message; a booking is made only for {@link SepaCodes#ACCEPTED}
 */
record SimulatedBank(RailBooks books, Function<Message, String> codes) implements MessageHandler {
  @Override
  public Outcome handle(Message message) throws SQLException {
    String code = codes.apply(message);
    String reference = code.equals(SepaCodes.ACCEPTED) ? books.book(entry(message)) : "";
    return SepaCodes.outcome(code, reference);
  }

  private static RailBooks.Entry entry(Message message) {
    return new RailBooks.Entry(
        message.id(),
        Objects.requireNonNull(message.aggregateId()),
        Objects.requireNonNull(message.key()),
        message.sequence());
  }
}
