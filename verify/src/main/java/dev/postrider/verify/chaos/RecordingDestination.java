package dev.postrider.verify.chaos;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.verify.journal.Clock;
import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.Journal;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Notes each message before a destination gets it, and passes by the failpoints. Thread-safe. */
final class RecordingDestination implements Destination {
  private final Destination destination;
  private final Place place;
  private final Journal journal;
  private final @Nullable Failpoint failpoint;

  /** Which relay sends to which sink. */
  record Place(String relay, String sink) {}

  RecordingDestination(
      Destination destination, Place place, Journal journal, @Nullable Failpoint failpoint) {
    this.destination = destination;
    this.place = place;
    this.journal = journal;
    this.failpoint = failpoint;
  }

  private void reached(String point) {
    if (failpoint != null) {
      failpoint.reached(point + place.sink());
    }
  }

  @Override
  public void deliver(List<Message> batch, Answers answers) {
    note(batch);
    reached("before send to ");
    destination.deliver(batch, new RecordingAnswers(answers));
  }

  private void note(List<Message> messages) {
    long now = Clock.micros();
    journal.note(
        messages.stream()
            .map(
                m ->
                    new Entry.Handover(
                        now,
                        place.relay(),
                        place.sink(),
                        m.id().toString(),
                        m.token(),
                        m.redelivery()))
            .toList());
  }

  /** A destination may take the next message of a key with its answer. */
  private final class RecordingAnswers implements Answers {
    private final Answers answers;

    RecordingAnswers(Answers answers) {
      this.answers = answers;
    }

    @Override
    public void answer(UUID messageId, Outcome outcome) {
      reached("before answer of ");
      answers.answer(messageId, outcome);
      reached("after answer of ");
    }

    @Override
    public @Nullable Message deliveredNext(UUID messageId) {
      reached("before answer of ");
      Message next = answers.deliveredNext(messageId);
      reached("after answer of ");
      if (next != null) {
        note(List.of(next));
      }
      return next;
    }
  }

  @Override
  public boolean keepsOrder() {
    return destination.keepsOrder();
  }

  @Override
  public boolean mayFollow(Message before, Message next) {
    return destination.mayFollow(before, next);
  }

  @Override
  public @Nullable String target(Message message) {
    return destination.target(message);
  }

  @Override
  public String type() {
    return destination.type();
  }

  @Override
  public int concurrency() {
    return destination.concurrency();
  }

  @Override
  public Duration answersWithin() {
    return destination.answersWithin();
  }

  @Override
  public void close() {
    destination.close();
  }
}
