package dev.postrider.relay;

import static dev.postrider.relay.ActiveTopics.ROUTES_PER_CLAIM;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which topics a claim looks at. */
@Tag("EN-20")
@Tag("EN-21")
class ActiveTopicsTest {
  private final ActiveTopics topics = new ActiveTopics();

  private void add(int from, int to, boolean ready) {
    IntStream.rangeClosed(from, to).forEach(id -> topics.add(id, ready, 1));
  }

  private List<Integer> open() {
    return topics.open(id -> false);
  }

  private ActiveTopics.Turn next() {
    return topics.next(open());
  }

  private static Set<Integer> upTo(int last) {
    return new HashSet<>(IntStream.rangeClosed(1, last).boxed().toList());
  }

  @Test
  void aTopicBecomesReadyOnce() {
    assertThat(topics.add(1, false, 1)).isFalse();
    assertThat(topics.add(1, true, 2)).isTrue();
    assertThat(topics.add(1, true, 3)).isFalse();
    assertThat(topics.add(2, true, 4)).isTrue();
  }

  @Test
  void aSearchEndsWhatWasReadyBeforeIt() {
    topics.add(1, true, 10);
    topics.add(2, true, 20);
    topics.searched(Set.of(1, 2), 15);
    assertThat(topics.add(1, true, 30)).as("it was seen before the search").isTrue();
    assertThat(topics.add(2, true, 30)).as("it rang during the search").isFalse();
  }

  @Test
  void aFewThatAreEmptyAreKept() {
    add(1, ROUTES_PER_CLAIM, true);
    topics.searched(Set.of(1), 2);
    assertThat(open()).hasSize(ROUTES_PER_CLAIM);
  }

  @Test
  void ofManyThoseThatAreEmptyAreForgotten() {
    add(1, ROUTES_PER_CLAIM + 1, true);
    topics.searched(Set.of(1, 5, 99), 2);
    assertThat(open()).containsExactly(1, 5);
  }

  /** The search may have looked at its topic before its message was there. */
  @Test
  void ofManyOneThatRangDuringTheSearchIsKept() {
    add(1, ROUTES_PER_CLAIM, false);
    topics.add(500, true, Long.MAX_VALUE);
    topics.add(600, true, Long.MAX_VALUE - 2);
    topics.add(700, true, Long.MIN_VALUE); // the clock went over its end
    topics.searched(Set.of(1, 5), Long.MAX_VALUE - 1);
    assertThat(open()).containsExactly(1, 5, 500, 700);
  }

  @Test
  void pausedOnesAreLeftOut() {
    add(1, 4, true);
    assertThat(topics.open(id -> id % 2 == 0)).containsExactly(1, 3);
  }

  @Test
  void aFewAreLookedAtTogether() {
    add(1, ROUTES_PER_CLAIM, false);
    assertThat(next().routes()).hasSize(ROUTES_PER_CLAIM);
    assertThat(next().partial()).isFalse();
  }

  @Test
  void manyThatAreReadyTakeTurns() {
    add(1, 150, true);
    Set<Integer> seen = new HashSet<>();
    for (int claim = 1; claim <= 3; claim++) {
      ActiveTopics.Turn turn = next();
      assertThat(turn.routes()).hasSize(ROUTES_PER_CLAIM).doesNotHaveDuplicates();
      assertThat(turn.partial()).isTrue();
      assertThat(turn.all()).as("for a suspect").hasSize(150);
      seen.addAll(turn.routes());
    }
    assertThat(seen).isEqualTo(upTo(150));
  }

  /** Delayed and blocked messages become due: their topics get a quarter of each claim. */
  @Test
  void idleOnesDoNotHideReadyOnesNorTheOtherWayRound() {
    add(1, 100, false);
    add(101, 200, true);
    Set<Integer> seen = new HashSet<>();
    for (int claim = 1; claim <= 7; claim++) {
      List<Integer> routes = next().routes();
      assertThat(routes.stream().filter(id -> id > 100)).hasSize(48);
      assertThat(routes.stream().filter(id -> id <= 100)).hasSize(16);
      seen.addAll(routes);
    }
    assertThat(seen).isEqualTo(upTo(200));
  }

  @Test
  void aFewReadyOnesAreInEveryClaim() {
    add(1, 500, false);
    add(501, 503, true);
    Set<Integer> seen = new HashSet<>();
    for (int claim = 1; claim <= 9; claim++) {
      ActiveTopics.Turn turn = next();
      assertThat(turn.routes()).contains(501, 502, 503).hasSize(ROUTES_PER_CLAIM);
      assertThat(turn.partial()).isFalse();
      seen.addAll(turn.routes());
    }
    assertThat(seen).isEqualTo(upTo(503));
  }
}
