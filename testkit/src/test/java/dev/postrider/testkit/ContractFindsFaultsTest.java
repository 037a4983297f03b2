package dev.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A contract that nobody can break proves nothing. */
class ContractFindsFaultsTest {
  private final List<Arrival> arrivals = new CopyOnWriteArrayList<>();

  private DestinationContract contract(Destination destination) throws Exception {
    DestinationContract contract =
        new DestinationContract() {
          @Override
          protected Destination open() {
            return destination;
          }

          @Override
          protected List<Arrival> arrived() {
            return arrivals;
          }

          @Override
          protected Duration timeout() {
            return Duration.ofMillis(300);
          }
        };
    contract.openDestination();
    return contract;
  }

  /** Answers well for each message, in the order given. */
  private void deliver(List<Message> batch, Destination.Answers answers) {
    for (Message message : batch) {
      arrivals.add(new Arrival(message.id(), message.payload(), message.headers()));
      answers.answer(message.id(), Outcome.delivered());
    }
  }

  @Test
  @Tag("OP-6")
  void silence() throws Exception {
    DestinationContract contract =
        contract((batch, answers) -> deliver(batch.subList(1, batch.size()), answers));
    assertThatThrownBy(contract::answersEveryMessageExactlyOnce)
        .hasMessageContaining("every message is answered");
  }

  @Test
  @Tag("OP-6")
  void secondAnswersAndExceptions() throws Exception {
    DestinationContract twice =
        contract(
            (batch, answers) -> {
              deliver(batch, answers);
              answers.answer(batch.get(0).id(), Outcome.delivered());
            });
    assertThatThrownBy(twice::answersEveryMessageExactlyOnce).hasMessageContaining("given twice");
    DestinationContract throwing =
        contract(
            (batch, answers) -> {
              throw new IllegalStateException("no");
            });
    assertThatThrownBy(throwing::takesALargeBatch).hasMessageContaining("does not throw");
  }

  @Test
  @Tag("OP-6")
  void deliveriesThatNeverArrived() throws Exception {
    DestinationContract contract =
        contract(
            (batch, answers) ->
                batch.forEach(message -> answers.answer(message.id(), Outcome.delivered())));
    assertThatThrownBy(contract::deliversWhatItWasGiven).isNotNull();
  }

  @Test
  @Tag("OP-6")
  void lostHeaders() throws Exception {
    DestinationContract contract =
        contract(
            (batch, answers) ->
                batch.forEach(
                    message -> {
                      arrivals.add(new Arrival(message.id(), message.payload(), Map.of()));
                      answers.answer(message.id(), Outcome.delivered());
                    }));
    assertThatThrownBy(contract::keepsUnicodeInHeadersAndPayload).hasMessageContaining("Zürich");
  }

  @Test
  @Tag("OP-6")
  void aFalsePromiseToKeepTheOrder() throws Exception {
    Destination shuffling =
        new Destination() {
          @Override
          public void deliver(List<Message> batch, Answers answers) {
            List<Message> shuffled = new ArrayList<>(batch);
            Collections.reverse(shuffled);
            ContractFindsFaultsTest.this.deliver(shuffled, answers);
          }

          @Override
          public boolean keepsOrder() {
            return true;
          }
        };
    DestinationContract contract = contract(shuffling);
    assertThatThrownBy(contract::keepsTheOrderOfAKeyWithinABatchAndAcrossBatches)
        .hasMessageContaining("sorted");
  }
}
