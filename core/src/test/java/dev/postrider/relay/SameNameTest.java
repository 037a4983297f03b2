package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.message.Message;
import dev.postrider.testrules.NoSecondChance;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two relays of one name, as during a rolling update. */
@Tag("EN-19")
@Timeout(60)
@NoSecondChance
class SameNameTest {
  @AutoClose private final Post post = new Post();
  private final List<Runnable> answersToGive = new CopyOnWriteArrayList<>();

  private void keep(List<Message> batch, Answers answers) {
    for (Message message : batch) {
      answersToGive.add(() -> answers.answer(message.id(), post.take(message)));
    }
  }

  private Relay.Builder named(String name) {
    return post.builder().config(Post.config().withName(name));
  }

  @Test
  void theSecondLeavesTheFirstOnesMessagesAlone() {
    List<UUID> sent = post.send("orders", "k", 5);
    post.start(named("relay").destination("slow", this::keep).route("shop", "orders", "slow"));
    await().until(() -> !answersToGive.isEmpty());
    post.start(named("relay").destination("here", post.taking()).route("shop", "*", "here"));
    UUID other = post.send("bills", null);
    await().until(() -> post.deliveredIds().contains(other));
    assertThat(sent).allSatisfy(id -> assertThat(post.state(id)).isEqualTo("processing"));
    await()
        .until(
            () -> {
              answersToGive.forEach(Runnable::run);
              return post.sequencesOf("k").contains(5L);
            });
    post.untilEmpty();
    assertThat(sent)
        .allSatisfy(id -> assertThat(post.attempts(id)).startsWith("DISPATCHED"))
        .allSatisfy(id -> assertThat(post.attempts(id)).doesNotContain("ZOMBIE_REQUEUE"));
  }

  @Test
  void theyHaveNumbersOfTheirOwnAndANewOneTakesThatOfAStoppedOne() {
    long first = worker("a");
    long second = worker("b");
    assertThat(second).isNotEqualTo(first);
    assertThat(worker("a")).as("one that comes back").isEqualTo(first);
    post.database.execute("select postrider.worker_stopped(" + first + ")");
    assertThat(worker("c")).isEqualTo(first);
    assertThat(worker("d")).isNotIn(first, second);
    assertThat(post.database.count("select postrider.worker_id('relay')"))
        .as("one without an instance takes nobody's")
        .isNotIn(first, second);
  }

  @Test
  void theNumberOfOneThatStoppedButHoldsMessagesIsNotTaken() {
    long first = worker("a");
    post.send("orders", null);
    post.database.execute(
        "select postrider.claim("
            + first
            + ", 1, 1000, 60000, array(select id from postrider.route))");
    post.database.execute("select postrider.worker_stopped(" + first + ")");
    assertThat(worker("b")).isNotEqualTo(first);
  }

  private long worker(String instance) {
    return post.database.count("select postrider.worker_id('relay', '" + instance + "')");
  }
}
