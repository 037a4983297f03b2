package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.observe.RelayListener;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whatever a destination does, the relay goes on and every message is accounted for. */
class BrokenDestinationTest {
  @AutoClose private final Post post = new Post();

  @Test
  @Tag("EN-7")
  void thatThrowsFailsOnlyWhatItHadNotAnswered() {
    List<UUID> ids = post.send("orders", null, 3);
    post.start(
        (batch, answers) -> {
          for (Message message : batch) {
            if (message.id().equals(ids.get(1)) && message.attempt() == 1) {
              throw new StackOverflowError("deep");
            }
            answers.answer(message.id(), post.take(message));
          }
        });
    await().until(() -> post.attempts(ids.get(1)).contains("RETRYABLE"));
    assertThat(post.state(ids.get(0))).isEqualTo("delivered");
    await()
        .until(
            () -> {
              post.makeDue();
              return post.database.count("select count(*) from postrider.queue") == 0;
            });
    assertThat(post.deliveredIds()).containsExactlyInAnyOrderElementsOf(ids);
  }

  @Test
  void thatAnswersForStrangersChangesNothingForThem() {
    UUID stranger = post.send("not-served", null);
    Destination destination =
        (batch, answers) -> {
          answers.answer(stranger, Outcome.delivered());
          answers.answer(UUID.randomUUID(), Outcome.terminal("x", "x"));
          batch.forEach(message -> answers.answer(message.id(), post.take(message)));
        };
    UUID own = post.send("orders", null);
    post.start(post.builder().destination("here", destination).route("shop", "orders", "here"));
    await().until(() -> post.state(own).equals("delivered"));
    assertThat(post.state(stranger)).isEqualTo("pending");
    assertThat(post.heard.violations).hasSize(2).allMatch(v -> v.contains("not in the batch"));
  }

  @Test
  void thatAnswersTwiceIsTakenAtItsFirstWord() {
    List<UUID> ids = post.send("orders", "k", 3);
    post.start(
        (batch, answers) ->
            batch.forEach(
                message -> {
                  answers.answer(message.id(), post.take(message));
                  answers.answer(message.id(), Outcome.terminal("second", "thoughts"));
                }));
    post.untilEmpty();
    assertThat(post.deliveredIds()).containsExactlyElementsOf(ids);
    assertThat(ids).allMatch(id -> post.state(id).equals("delivered"));
    await().until(() -> post.heard.violations.size() == 3);
  }

  @Test
  void thatAnswersNullIsRetried() {
    UUID id = post.send("orders", null);
    post.start((batch, answers) -> answers.answer(batch.get(0).id(), null));
    await().until(() -> post.attempts(id).contains("RETRYABLE"));
    assertThat(post.database.value("select code from postrider.attempt")).isEqualTo("null_answer");
    assertThat(post.heard.violations).hasSize(1);
  }

  @Test
  void thatRejectsAPayloadGetsTheOthers() {
    List<UUID> ids = post.send("orders", null, 20);
    post.start(
        (batch, answers) ->
            batch.forEach(
                message ->
                    answers.answer(
                        message.id(),
                        message.text().equals("{\"n\":7}")
                            ? Outcome.terminal("rejected", "cannot parse")
                            : post.take(message))));
    post.untilEmpty();
    assertThat(post.delivered).hasSize(19);
    assertThat(post.state(ids.get(7))).isEqualTo("dead");
  }

  @Test
  void aListenerThatThrowsDoesNotStopTheRelay() {
    AtomicInteger called = new AtomicInteger();
    RelayListener throwing =
        new RelayListener() {
          @Override
          public void sent(String destination, Message message) {
            called.incrementAndGet();
            throw new IllegalStateException("broken listener");
          }

          @Override
          public void claimed(int messages, java.time.Duration took) {
            throw new AssertionError("broken listener");
          }
        };
    post.send("orders", "k", 5);
    post.start(
        post.builder()
            .listener(throwing)
            .destination("here", post.taking())
            .route("shop", "*", "here"));
    post.untilEmpty();
    assertThat(post.delivered).hasSize(5);
    assertThat(called).hasValue(5);
  }
}
