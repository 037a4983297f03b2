package dev.postrider.store;

import static dev.postrider.store.Postbox.MINUTE;
import static dev.postrider.store.Postbox.NAMESPACE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.claim.ClaimCursor;
import dev.postrider.claim.ClaimRequest;
import dev.postrider.claim.Claims;
import dev.postrider.message.Claimed;
import dev.postrider.message.Route;
import dev.postrider.message.Settlement;
import dev.postrider.settle.Settlements;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where claims go on, and where settlements look for their rows. */
class ClaimPlacesTest {
  private static final int LANES = 8;

  private final Postbox post = new Postbox(18);
  private final int worker =
      Integer.parseInt(post.database.value("select postrider.worker_id('ann')"));

  @BeforeEach
  void numberKeys() {
    post.database.execute(
        """
        insert into postrider.ordering_key (namespace, key, last_sequence)
        select '%s', 'key-' || n, 0 from generate_series(1, 100) n
        """
            .formatted(NAMESPACE));
  }

  @AfterEach
  void nothingIsLostOrStuck() {
    post.check();
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = "k")
  @Tag("PO-13")
  void aRowThatMovedSinceItsClaimIsSettled(@Nullable String key) throws Exception {
    List<UUID> sent = post.send(3, "orders", key);
    List<Claimed> claimed = claim(10, null);
    post.database.execute(
        "update postrider.queue set pull = pull where id = '" + sent.get(1) + "'");
    assertThat(settle(claimed)).isEmpty();
    assertThat(sent).allSatisfy(id -> assertThat(post.state(id)).isEqualTo("delivered"));
    assertThat(sent).allSatisfy(id -> assertThat(post.attempts(id)).containsExactly("DISPATCHED"));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = "k")
  @Tag("PO-13")
  void aPlaceThatHoldsAnotherRowIsLeftAlone(@Nullable String key) throws Exception {
    List<UUID> sent = post.send(2, "orders", key);
    List<Claimed> claimed = claim(10, null);
    Claimed first = claimed.get(0);
    Claimed misled =
        new Claimed(
            first.message(), first.routeId(), first.lane(), first.keyId(), claimed.get(1).tid());
    assertThat(settle(List.of(misled))).isEmpty();
    assertThat(sent).map(post::state).containsExactly("delivered", "processing");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5})
  @Tag("PO-6")
  void aClaimOfKeysGoesOnInTheNextLaneThatIsNotInFlight(int inFlight) throws Exception {
    for (int key = 0; key < 3; key++) {
      for (int lane = 1; lane <= LANES; lane++) {
        post.send(2, "orders", keys(lane).get(key));
      }
    }
    ClaimCursor cursor = new ClaimCursor(1, (short) (inFlight - 1), new UUID(0, 0));
    List<Claimed> first = claim(6, inFlight == 1 ? null : cursor);
    List<Integer> lanes = new ArrayList<>();
    for (int i = 1; i < LANES; i++) {
      List<Claimed> next = claim(6, after(first)); // Always the same place: the others are taken.
      assertThat(next).hasSize(6).extracting(Claimed::lane).containsOnly(next.get(0).lane());
      assertThat(next)
          .extracting(c -> c.message().sequence())
          .containsExactly(1L, 2L, 1L, 2L, 1L, 2L);
      lanes.add((int) next.get(0).lane());
    }
    assertThat(lanes).doesNotHaveDuplicates().doesNotContain((int) first.get(0).lane());
    assertThat(lanes.get(0)).isEqualTo(first.get(0).lane() % LANES + 1);
    assertThat(claim(6, after(first))).isEmpty();
    assertThat(settle(first)).isEmpty();
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(shorts = 1)
  @Tag("PO-6")
  void aSlowMessageDoesNotHoldUpTheOtherKeysOfItsLane(@Nullable Short afterLane) throws Exception {
    List<UUID> sent = new ArrayList<>();
    for (int lane = 2; lane <= LANES; lane++) {
      sent.add(post.send("orders", keys(lane).get(0)));
    }
    UUID neighbour = post.send("orders", keys(2).get(1));
    Claimed slow = claim(1, null).get(0);
    assertThat(slow.message().id()).isEqualTo(sent.get(0));
    assertThat(claim(1, null)).extracting(Claimed::lane).doesNotContain(slow.lane());
    post.age();
    ClaimCursor cursor =
        afterLane == null
            ? null
            : new ClaimCursor(1, (short) (slow.lane() - afterLane), new UUID(0, 0));
    assertThat(claim(1, cursor)).extracting(c -> c.message().id()).containsExactly(neighbour);
  }

  /** Keys whose messages go to a lane. */
  private List<String> keys(int lane) {
    return post.database.column(
        "select key from postrider.ordering_key where postrider.lane_of(id) = "
            + lane
            + " order by id");
  }

  private static ClaimCursor after(List<Claimed> claimed) {
    Claimed last = claimed.get(claimed.size() - 1);
    return new ClaimCursor(last.routeId(), last.lane(), last.message().id());
  }

  private List<Claimed> claim(int limit, @Nullable ClaimCursor after) throws SQLException {
    ClaimRequest request =
        new ClaimRequest(worker, limit, 1_000_000, MINUTE, List.of(1), after, true);
    try (Connection connection = post.database.transaction()) {
      List<Claimed> claimed =
          new Claims(Schema.DEFAULT)
              .take(connection, request, route -> new Route(NAMESPACE, "orders"));
      connection.commit();
      return claimed;
    }
  }

  private Set<UUID> settle(List<Claimed> claimed) throws SQLException {
    List<Settlement> delivered =
        claimed.stream().map(c -> Settlement.delivered(c, 1, null)).toList();
    try (Connection connection = post.database.transaction()) {
      Set<UUID> refused = new Settlements(Schema.DEFAULT).record(connection, worker, delivered);
      connection.commit();
      return refused;
    }
  }
}
