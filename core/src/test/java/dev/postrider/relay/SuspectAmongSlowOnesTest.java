package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination.Answers;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.message.Message;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages that are suspected of killing their relays, at a destination that takes its time. */
@Tag("EN-16")
@Tag("EN-18")
@Timeout(120)
class SuspectAmongSlowOnesTest {
  private static final DestinationOptions TWO_AT_A_TIME =
      DestinationOptions.DEFAULT.withConcurrency(2).withTimeout(Duration.ofMinutes(2));

  @AutoClose private final Post post = new Post();
  private final List<Runnable> kept = new CopyOnWriteArrayList<>();
  private final Set<UUID> suspects = new HashSet<>();

  private void keep(List<Message> batch, Answers answers) {
    batch.forEach(m -> kept.add(() -> answers.answer(m.id(), post.take(m))));
  }

  private long held() {
    return post.database.count("select coalesce(sum(open), 0) from postrider.lease");
  }

  private void makeSuspects(List<UUID> ids) {
    suspects.addAll(ids);
    post.database.execute(
        """
        update postrider.queue set lost_leases = 3, lane = -1 - lane, due_at = now() + interval '1 h'
         where lease is null and lane >= 0
        """);
  }

  /** A destination takes two at a time, so the others would be with their relay for hours. */
  @Test
  void whatIsNotSentYetIsGivenBack() {
    makeSuspects(post.send("orders", null, 1));
    List<UUID> others = new ArrayList<>(post.send("orders", null, 40));
    others.addAll(post.send("orders", "k", 10));
    post.start(this::keep, TWO_AT_A_TIME, RouteOptions.DEFAULT);
    await().until(() -> kept.size() == 2 && held() == 50);

    post.makeDue();
    await().until(() -> held() == 2);
    kept.forEach(Runnable::run);
    await().until(() -> kept.size() == 3);
    assertThat(held()).isEqualTo(1);
    kept.get(2).run();
    assertThat(post.deliveredIds().subList(2, 3)).containsExactlyElementsOf(suspects);

    for (int next = 3; next < 51; next++) {
      int size = next + 1;
      await().until(() -> kept.size() >= size);
      kept.get(next).run();
    }
    post.untilEmpty();
    assertThat(post.deliveredIds()).containsAll(others).doesNotHaveDuplicates();
    assertThat(post.sequencesOf("k")).isSorted().hasSize(10);
  }

  /** None of them holds the others up, and none is held up by them. */
  @Test
  void manySuspectsAndTheOthersTakeTurns() {
    makeSuspects(post.send("orders", null, 30));
    post.makeDue();
    List<UUID> others = post.send("orders", null, 300);
    post.start(
        (batch, answers) -> batch.forEach(m -> answers.answer(m.id(), post.take(m))),
        TWO_AT_A_TIME,
        RouteOptions.DEFAULT);
    post.untilEmpty();
    assertThat(post.deliveredIds()).containsAll(others).containsAll(suspects).hasSize(330);
  }
}
