package dev.postrider.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.testkit.TestPostgres;
import java.time.Duration;
import java.util.List;

/** Compares what was committed with what happened outside. Used by one thread. */
final class Ledger {
  private final TestPostgres database;

  Ledger(TestPostgres database) {
    this.database = database;
  }

  void untilEmpty() {
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(50))
        .until(() -> database.count("select count(*) from postrider.queue") == 0);
  }

  long effects() {
    return database.count("select count(*) from effect");
  }

  void untilEffects(long count) {
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> effects() >= count);
  }

  /** Nothing lost, nothing made up, every key's messages first seen in their order. */
  void assertBalanced() {
    assertThat(
            database.column(
                "select m.id from postrider.message m"
                    + " where not exists (select from effect e where e.id = m.id)"))
        .as("committed and never delivered")
        .isEmpty();
    assertThat(
            database.column(
                "select e.id from effect e"
                    + " where not exists (select from postrider.message m where m.id = e.id)"))
        .as("delivered and never committed")
        .isEmpty();
    assertThat(
            database.column(
                "select dedupe_key from business full join postrider.message m using (dedupe_key)"
                    + " where business.dedupe_key is null or m.id is null"))
        .as("business rows and messages that do not match")
        .isEmpty();
    assertThat(outOfOrder()).as("delivered before an earlier message of its key").isEmpty();
  }

  /** A subscription of shop/orders got every message of it that was committed. */
  void assertComplete(String subscription) {
    assertThat(
            database.column(
                "select m.id from postrider.message m join postrider.route r on r.id = m.route"
                    + " where r.topic = 'orders' and not exists (select from effect e"
                    + " where e.id = m.id and e.subscription = '"
                    + subscription
                    + "')"))
        .as("never delivered to " + subscription)
        .isEmpty();
  }

  List<String> outOfOrder() {
    return database.column(
        """
        with first as (select subscription, ordering_key, sequence, min(no) as no from effect
                        where ordering_key is not null group by 1, 2, 3)
        select subscription || ' ' || ordering_key || '#' || sequence from (
          select *, max(no) over (partition by subscription, ordering_key order by sequence
                                  rows between unbounded preceding and 1 preceding) as before
            from first) f
         where no < before
        """);
  }
}
