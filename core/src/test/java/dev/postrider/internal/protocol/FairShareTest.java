package dev.postrider.internal.protocol;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static dev.postrider.testing.Postbox.ids;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Message;
import dev.postrider.testing.Postbox;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No key, topic or tenant waits for another's backlog. */
@Tag("EN-20")
@Timeout(60)
class FairShareTest {
  private static final int BACKLOG = 5000;

  private final Postbox post = new Postbox(18);
  private final Jam jam = new Jam(post.database);
  private final LeaseStore ann = post.worker("ann");

  @AfterEach
  void nothingIsLostOrStuck() {
    post.check();
  }

  @Test
  void aBusyKeyDoesNotHoldUpOthers() {
    jam.run("orders", "busy", BACKLOG);
    jam.send("orders", "other-", 50);
    assertThat(othersIn(claim(3))).hasSize(50);
  }

  @Test
  void norWhileItsMessagesAreInFlight() {
    jam.run("orders", "busy", BACKLOG);
    assertThat(claim(1)).hasSize(100).allMatch(c -> "busy".equals(c.key()));
    jam.send("orders", "other-", 50);
    assertThat(claim(1)).extracting(c -> c.key()).hasSize(50).doesNotContain("busy");
  }

  @Test
  void norWhileItIsDelivered() {
    jam.run("orders", "busy", BACKLOG);
    ann.ackSent(ids(claim(1)));
    jam.send("orders", "other-", 50);
    List<Message> next = claim(1);
    ann.ackSent(ids(next));
    next.addAll(claim(1));
    assertThat(othersIn(next)).hasSize(50);
  }

  /** The rest of a claim that few keys share is theirs. */
  @Test
  void whatOthersDoNotNeedTheBusyKeyGets() {
    jam.run("orders", "busy", BACKLOG);
    jam.send("orders", "other-", 3);
    assertThat(claim(1)).hasSizeGreaterThan(85);
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "'k' || i", "'k'"})
  void aFreshTopicDoesNotWaitBehindAnothers(String key) {
    backlog(key, "null");
    UUID fresh = post.send("payments");
    assertThat(ids(claim(2))).contains(fresh);
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "'k' || i", "'k'"})
  void aFreshTenantDoesNotWaitBehindAnothers(String key) {
    backlog(key, "'large'");
    UUID fresh =
        UUID.fromString(
            post.database.value(
                "select id from postrider.enqueue('shop', 'orders', '{}', tenant => 'small')"));
    assertThat(ids(claim(2))).contains(fresh);
  }

  @Test
  void messagesWithoutAKeyDoNotWaitBehindKeysNorTheOtherWayRound() {
    backlog("null", "null");
    backlog("'k' || i", "null");
    List<Message> claimed = claim(2);
    assertThat(claimed.stream().filter(c -> c.key() == null).count()).isBetween(50L, 150L);
  }

  /** More tenants than one claim looks at: each has its turn. */
  @Test
  void ofVeryManyTenantsEachHasItsTurn() {
    post.database.execute(
        """
        select count(postrider.enqueue('shop', 'orders', '{}', tenant => 't' || i % 300))
          from generate_series(0, 2999) i
        """);
    List<Message> claimed = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      List<Message> batch = claim(1);
      ann.ackSent(ids(batch));
      claimed.addAll(batch);
    }
    assertThat(claimed.stream().map(c -> c.tenant()).distinct()).hasSize(300);
  }

  private void backlog(String key, String tenant) {
    post.database.execute(
        """
        select count(postrider.enqueue('shop', 'orders', '{}', key => %s, tenant => %s))
          from generate_series(1, %d) i
        """
            .formatted(key, tenant, BACKLOG));
  }

  private List<Message> claim(int times) {
    List<Message> claimed = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      claimed.addAll(ann.claim(NAMESPACE, 100, MINUTE));
    }
    return claimed;
  }

  private static List<Message> othersIn(List<Message> claimed) {
    return claimed.stream().filter(c -> !"busy".equals(c.key())).toList();
  }
}
