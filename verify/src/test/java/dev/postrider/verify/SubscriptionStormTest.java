package dev.postrider.verify;

import dev.postrider.testkit.TestPostgres;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Subscriptions that come and go while messages flow and relays are killed. */
@Tag("EN-23")
class SubscriptionStormTest {
  private static final long SEED = Long.getLong("storm.seed", System.nanoTime());

  @AutoClose private final TestPostgres database = TestPostgres.start();

  @Test
  void nothingIsMissedDoubledOrOutOfOrder() throws Exception {
    SubscriptionStorm storm = new SubscriptionStorm(database, SEED);
    storm.rage(Integer.getInteger("storm.acts", 16), Integer.getInteger("storm.kills", 6));
    System.out.println("seed " + SEED + ": " + storm.summary());
    storm.check();
  }
}
