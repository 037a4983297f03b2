package dev.postrider.deadletter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.schema.Schema;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class BlockedKeysTest {
  private final TestDatabase database = TestDatabase.create();
  private final Courier courier = new Courier(database);
  private final BlockedKeys keys = new BlockedKeys(database.dataSource(), Schema.DEFAULT);
  private UUID head = new UUID(0, 0);
  private UUID follower = new UUID(0, 0);

  @BeforeEach
  void aKeyWaitsForItsDeadHead() {
    head = courier.enqueue("'bank', 'payments', key => 'acc'");
    courier.block("rejected");
    follower = courier.enqueue("'bank', 'payments', key => 'acc'");
    assertThat(courier.deliver()).isEmpty();
  }

  @Test
  @Tag("CH-7")
  void listsHeadsWithTheirFollowers() throws Exception {
    List<BlockedKey> blocked = keys.list(null, 10);
    assertThat(blocked).hasSize(1);
    assertThat(blocked.get(0).head()).isEqualTo(head);
    assertThat(blocked.get(0).key()).isEqualTo("acc");
    assertThat(blocked.get(0).followers()).isEqualTo(1);
    assertThat(blocked.get(0).code()).isEqualTo("rejected");
    assertThat(keys.list(blocked.get(0), 10)).isEmpty();
  }

  @Test
  @Tag("CH-7")
  @Tag("EN-6")
  void retryGivesTheHeadBackInPlaceAndInOrder() throws Exception {
    assertThat(courier.state(head)).isEqualTo("dead 1.1");
    assertThat(keys.retry("ann", "bank", "acc")).isTrue();
    assertThat(courier.state(head)).isEqualTo("pending 2.0");
    assertThat(courier.deliver()).containsExactly(head, follower);
    assertThat(courier.state(head)).isEqualTo("delivered 2.1");
  }

  @Test
  @Tag("CH-7")
  void skipLetsTheFollowersGoOn() throws Exception {
    assertThat(keys.skip("ann", "closed account", "bank", "acc")).isTrue();
    assertThat(courier.deliver()).containsExactly(follower);
    assertThat(courier.state(head)).isEqualTo("dead 1.1");
    assertThat(keys.list(null, 10)).isEmpty();
    assertThat(keys.skip("ann", "again", "bank", "acc")).isFalse();
  }

  @Test
  @Tag("CH-7")
  void skipPullsParkedFollowersForward() throws Exception {
    database.execute(
        "update postrider.queue set lane = -1 - lane, due_at = 'infinity' where id = '"
            + follower
            + "'");
    assertThat(courier.deliver()).isEmpty();
    keys.skip("ann", "closed account", "bank", "acc");
    assertThat(courier.deliver()).containsExactly(follower);
  }
}
