package dev.postrider.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testing.TestDatabase;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What was delivered leaves nothing behind that a claim would have to pass. */
class HotStorageTest {
  private static final String DELIVER_ALL =
      """
      do $$
      declare
        c record;
      begin
        loop
          select array_agg(x.id) as id,
                 array_agg(x.token) as token, array_agg(1::smallint) as outcome into c
            from postrider.claim(1, 5000, 1000000000, 60000, '{1}') x;
          exit when c.id is null;
          perform postrider.settle(1, c.id, c.token, c.outcome);
          commit;
        end loop;
      end $$
      """;

  private final TestDatabase database = TestDatabase.create();

  @Test
  @Tag("PO-3")
  void theQueueAndTheClaimDoNotGrowWithHistory() {
    database.execute("select postrider.worker_id('w')");
    enqueue(10);
    long before = pagesOfAClaim();
    database.execute(DELIVER_ALL);
    enqueue(30_000);
    database.execute(DELIVER_ALL);
    database.execute("vacuum postrider.queue, postrider.lease");
    assertThat(database.count("select count(*) from postrider.queue")).isZero();
    assertThat(database.count("select count(*) from postrider.message")).isEqualTo(30_010);
    assertThat(database.count("select pg_relation_size('postrider.queue')")).isZero();
    enqueue(10);
    assertThat(pagesOfAClaim()).isLessThan(before + 50);
  }

  private void enqueue(int count) {
    database.execute(
        "select count(postrider.enqueue('shop', 'orders', '{}')) from generate_series(1, %d)"
            .formatted(count));
  }

  /** Pages that a claim of five touches, all of its statements together. */
  private long pagesOfAClaim() {
    List<String> plan =
        database.column(
            "explain (analyze, buffers, timing off) select * from postrider.claim(1, 5, 10000, 1, '{1}')");
    Matcher hits = Pattern.compile("shared hit=(\\d+)").matcher(String.join("\n", plan));
    assertThat(hits.find()).isTrue();
    return Long.parseLong(hits.group(1));
  }
}
