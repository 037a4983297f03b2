package dev.postrider.internal.protocol;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.claim.ClaimRequest;
import dev.postrider.internal.claim.ClaimRequest.Kind;
import dev.postrider.internal.claim.ClaimRequest.Start;
import dev.postrider.internal.claim.ClaimResult;
import dev.postrider.internal.claim.Claims;
import dev.postrider.internal.settle.Settlements;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Postbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where claims go on, and where settlements look for their rows. */
class ClaimPlacesTest {
  private final Postbox post = new Postbox(18);
  private final int worker =
      Integer.parseInt(post.database.value("select postrider.worker_id('ann')"));

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
    List<Claimed> claimed = claim(10, null).messages();
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
    List<Claimed> claimed = claim(10, null).messages();
    Claimed first = claimed.get(0);
    Claimed misled =
        new Claimed(first.message(), first.routeId(), first.keyId(), 0, claimed.get(1).tid());
    assertThat(settle(List.of(misled))).isEmpty();
    assertThat(sent).map(post::state).containsExactly("delivered", "processing");
  }

  @Test
  @Tag("EN-20")
  void keysGoRound() throws Exception {
    for (int key = 0; key < 10; key++) {
      post.send(20, "orders", "key-" + key);
    }
    Set<Long> seen = new HashSet<>();
    String cursor = null;
    for (int i = 0; i < 10; i++) {
      ClaimResult claimed = claim(1, cursor);
      cursor = claimed.cursor();
      assertThat(claimed.messages()).hasSize(1);
      seen.add(claimed.messages().get(0).keyId());
      assertThat(settle(claimed.messages())).isEmpty();
    }
    assertThat(seen).as("each key had its turn").hasSize(10);
  }

  @Test
  @Tag("PO-6")
  void aSlowMessageDoesNotHoldUpOtherKeys() throws Exception {
    UUID slow = post.send("orders", "slow");
    assertThat(claim(1, null).messages()).extracting(c -> c.message().id()).containsExactly(slow);
    List<UUID> others = new ArrayList<>();
    for (int key = 0; key < 5; key++) {
      others.add(post.send("orders", "key-" + key));
    }
    post.send(3, "orders", "slow");
    assertThat(claim(100, null).messages())
        .extracting(c -> c.message().id())
        .containsExactlyElementsOf(others);
  }

  /** Messages without a key of so many tenants, large ones among them. */
  private List<UUID> sendPlain(int tenants) {
    for (int i = 0; i < 40; i++) {
      post.database.execute(
          "select postrider.enqueue('%s', 'orders', '\"%s\"'%s)"
              .formatted(
                  NAMESPACE,
                  "x".repeat(i % 4 == 3 ? 500 : 10),
                  tenants == 1 ? "" : ", tenant => 't" + i % tenants + "'"));
    }
    return post.database.column("select id from postrider.queue").stream()
        .map(UUID::fromString)
        .toList();
  }

  /** Claims that go on behind each other pass over nothing, whatever cut them. */
  @ParameterizedTest
  @CsvSource({
    "1, 8, 1000000, false",
    "1, 8, 600, false",
    "1, 8, 600, true",
    "3, 8, 1000000, false",
    "3, 8, 600, false",
    "3, 8, 600, true",
    "3, 7, 1000000, true"
  })
  @Tag("EN-16")
  void aClaimThatWasCutIsContinuedWhereItEnded(int tenants, int limit, long bytes, boolean search)
      throws Exception {
    List<UUID> sent = sendPlain(tenants);
    List<UUID> taken = new ArrayList<>();
    ClaimResult claimed = claim(limit, bytes, new Start(null, true, true));
    while (!claimed.messages().isEmpty()) {
      claimed.messages().forEach(c -> taken.add(c.message().id()));
      boolean all = taken.size() == sent.size();
      assertThat(claimed.more() || all).as("it knows of more after %d", taken.size()).isTrue();
      claimed = claim(limit, bytes, new Start(claimed.cursor(), search, false));
    }
    assertThat(taken).containsExactlyInAnyOrderElementsOf(sent);
  }

  private ClaimResult claim(int limit, @Nullable String cursor) throws SQLException {
    return claim(limit, 1_000_000, new Start(cursor, true, true));
  }

  private ClaimResult claim(int limit, long bytes, Start from) throws SQLException {
    ClaimRequest request =
        new ClaimRequest(worker, limit, bytes, MINUTE, List.of(1), from, Kind.DUE);
    try (Connection connection = post.database.transaction()) {
      ClaimResult claimed =
          new Claims(Schema.DEFAULT)
              .take(connection, request, route -> new Route(NAMESPACE, "orders"));
      connection.commit();
      return claimed;
    }
  }

  private Set<ClaimSettlement> settle(List<Claimed> claimed) throws SQLException {
    List<ClaimSettlement> delivered =
        claimed.stream().map(c -> ClaimSettlement.delivered(c, 1, null)).toList();
    try (Connection connection = post.database.transaction()) {
      Set<ClaimSettlement> refused =
          new Settlements(Schema.DEFAULT).record(connection, worker, delivered);
      connection.commit();
      return refused;
    }
  }
}
