package dev.postrider.internal.protocol;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.lease.LeaseStore;
import dev.postrider.testing.Postbox;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The work of the dead goes back in calls that end in time, whatever they had claimed. */
@Tag("EN-16")
@Timeout(120)
class ReapTest {
  private final Postbox post = new Postbox(18);

  private long reap() {
    long reaped = post.database.count("select postrider.reap()");
    post.check();
    return reaped;
  }

  @Test
  void oneCallEndsNoLeaseAfterTenThousandMessages() {
    post.database.execute(
        "select count(postrider.enqueue('shop', 'orders', '{}')) from generate_series(1, 14000)");
    LeaseStore dead = post.worker("dead");
    for (int i = 0; i < 7; i++) {
      assertThat(dead.claim(NAMESPACE, 2000, MINUTE)).hasSize(2000);
    }
    post.lapse();
    assertThat(reap()).isEqualTo(10_000);
    assertThat(post.database.count("select count(*) from postrider.lease")).isEqualTo(2);
    assertThat(reap()).isEqualTo(4000);
    assertThat(reap()).isZero();
  }

  @Test
  void oneCallEndsAHundredLeases() {
    post.send(150, "orders", null);
    LeaseStore dead = post.worker("dead");
    for (int i = 0; i < 150; i++) {
      assertThat(dead.claim(NAMESPACE, 1, MINUTE)).hasSize(1);
    }
    post.lapse();
    assertThat(reap()).isEqualTo(100);
    assertThat(reap()).isEqualTo(50);
  }

  /** A lease is lost as a whole: whoever renews it learns that it is gone. */
  @Test
  void aLeaseIsNeverEndedInPart() {
    post.database.execute(
        "select count(postrider.enqueue('shop', 'orders', '{}')) from generate_series(1, 10500)");
    assertThat(post.worker("dead").claim(NAMESPACE, 10_500, MINUTE)).hasSize(10_500);
    post.lapse();
    assertThat(reap()).isEqualTo(10_500);
    assertThat(post.database.count("select count(*) from postrider.lease")).isZero();
  }
}
