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

  private ClaimResult claim(int limit, @Nullable String cursor) throws SQLException {
    ClaimRequest request =
        new ClaimRequest(
            worker, limit, 1_000_000, MINUTE, List.of(1), new Start(cursor, true, true), Kind.DUE);
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
