package dev.postrider.internal.protocol;

import static dev.postrider.testing.Postbox.MINUTE;
import static dev.postrider.testing.Postbox.NAMESPACE;
import static dev.postrider.testing.Postbox.ids;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.internal.protocol.Jam.Cause;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Message;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Pages;
import dev.postrider.testing.Postbox;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that can go are claimed soon, whatever else is stuck, and claims stay cheap. */
@Tag("EN-16")
@Timeout(120)
class ProgressTest {
  private static final String CLAIM =
      """
      select * from postrider.claim(1, 100, 1000000, 60000, array(select route from postrider.queued_routes()))
      """;

  /** About ten for each key that a claim may look at. */
  private static final int MOST_PAGES = 100_000;

  private final Postbox post = new Postbox(18);
  private final Jam jam = new Jam(post.database);
  private final LeaseStore ann = post.worker("ann");

  @AfterEach
  void nothingIsLostOrStuck() {
    post.check();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  @Tag("EN-10")
  void smallClaimsGetPastBlockedKeys(int limit) {
    jam.stuck("orders", "stuck-", 60, 3, Cause.BLOCKED);
    jam.send("orders", "healthy-", 12);
    assertThat(claimsUntil(12, limit)).isLessThanOrEqualTo(12 / limit + 3);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  @Tag("EN-10")
  void soDoThoseThatKeepNoCursor(int limit) {
    jam.stuck("orders", "stuck-", 400, 2, Cause.BLOCKED);
    jam.send("orders", "healthy-", 12);
    String claim =
        "select ordering_key from postrider.claim(1, " + limit + ", 1000000, 60000, '{1}')";
    Set<String> claimed = new HashSet<>();
    int claims = 0;
    for (; claimed.size() < 12 && claims < 40; claims++) {
      claimed.addAll(post.database.column(claim));
    }
    assertThat(claimed).hasSize(12).allMatch(key -> key.startsWith("healthy-"));
    assertThat(claims).isLessThanOrEqualTo(12 / limit + 15);
  }

  @ParameterizedTest
  @EnumSource
  void manyStuckKeysDoNotHoldUpHealthyOnesNorMakeClaimsDear(Cause cause) throws Exception {
    jam.stuck("orders", "stuck-", 3000, 1, cause);
    jam.send("orders", "healthy-", 200);
    jam.send("orders", "stuck-", 3000);
    assertThat(claimsUntil(200, 100)).isLessThanOrEqualTo(8);
    ann.ackSent(held());
    for (int i = 0; i < 8; i++) {
      assertThat(ann.claim(NAMESPACE, 100, MINUTE)).isEmpty();
    }
    assertThat(Pages.touched(post.database, CLAIM)).isLessThan(600);
    jam.send("orders", "late-", 1);
    assertThat(claimsUntil(1, 100)).isLessThanOrEqualTo(2);
  }

  /** More than one claim can look at: it would time out, be rolled back and begin anew for ever. */
  @Test
  void aClaimAmongVeryManyStuckKeysEndsInTimeAndKeepsWhatItDid() throws Exception {
    jam.blockedAtOnce("orders", "stuck-", 30_000);
    jam.send("orders", "healthy-", 200);
    assertThat(Pages.touched(post.database, CLAIM.replace(", 100,", ", 1000,")))
        .isLessThan(MOST_PAGES);
    post.database.execute(
        """
        do $$ begin
          execute format('alter database %I set statement_timeout = 5000', current_database());
        end $$
        """);
    assertThat(claimsUntil(200, 1000)).isLessThanOrEqualTo(12);
  }

  @Test
  void whatWasHiddenComesBackInOrder() throws Exception {
    jam.stuck("orders", "waits-", 150, 2, Cause.BACKOFF);
    jam.stuck("orders", "blocks-", 300, 2, Cause.BLOCKED);
    for (int i = 0; i < 8; i++) {
      assertThat(ann.claim(NAMESPACE, 100, MINUTE)).isEmpty();
    }
    assertThat(count("due_at = 'infinity' and not blocked")).isGreaterThan(700);
    post.check();

    DeadLetters dead = new DeadLetters(post.database.dataSource(), Schema.DEFAULT);
    List<UUID> given =
        post.database.column("select message_id from postrider.dead_letter limit 150").stream()
            .map(UUID::fromString)
            .toList();
    assertThat(dead.discard("ann", "not needed", given)).isEqualTo(150);
    post.check();
    assertThat(dead.requeue("ann", DeadLetterFilter.all(), n -> true)).isEqualTo(150);
    post.check();
    post.letTimePass();

    Map<String, List<Long>> delivered = deliverAll();
    assertThat(delivered).hasSize(450);
    assertThat(delivered)
        .allSatisfy(
            (key, sequences) ->
                assertThat(sequences)
                    .isEqualTo(LongStream.rangeClosed(4 - sequences.size(), 3).boxed().toList()));
    assertThat(delivered.values().stream().mapToInt(List::size).sum()).isEqualTo(450 * 3 - 150);
    assertThat(count("true")).isZero();
  }

  @Test
  void stuckRunsInManyTopicsAreNotReadAgainAndAgain() throws Exception {
    for (int topic = 0; topic < 10; topic++) {
      jam.run("topic-" + topic, "stuck-" + topic, 1);
      jam.failAll(Cause.BACKOFF);
      jam.run("topic-" + topic, "stuck-" + topic, 900);
    }
    assertThat(ann.claim(NAMESPACE, 1000, MINUTE)).isEmpty();
    assertThat(Pages.touched(post.database, CLAIM)).isLessThan(600);
  }

  @Test
  void aClaimMovesABoundedNumberOfRows() {
    jam.stuck("orders", "stuck-", 3000, 1, Cause.BLOCKED);
    for (int claims = 1; claims <= 3; claims++) {
      ann.claim(NAMESPACE, 1000, MINUTE);
      assertThat(count("due_at = 'infinity' and not blocked")).isLessThanOrEqualTo(claims * 2000L);
    }
  }

  @Test
  void aRetryDoesNotWaitForDueMessagesThatNobodyTakes() {
    UUID retried = post.send("orders");
    ann.claim(NAMESPACE, 1, MINUTE);
    ann.failRetry(retried, "busy", Instant.now().plusSeconds(3600));
    post.database.execute(
        """
        select count(postrider.enqueue('unserved', 'orders', '{}', not_before => now() + interval '1 hour'))
          from generate_series(1, 5000);
        update postrider.queue set due_at = now() - case when attempts = 0 then interval '2 s' else interval '1 s' end
        """);
    assertThat(claimsUntil(1, 1)).isLessThanOrEqualTo(4);
  }

  @Test
  void topicsWithoutAnythingToTakeDoNotHideOthers() {
    post.database.execute(
        """
        select count(postrider.enqueue('shop', 'topic-' || i, '{}', not_before => now() + interval '1 hour'))
          from generate_series(1, 1000) i
        """);
    post.send("topic-1001");
    assertThat(claimsUntil(1, 100)).isEqualTo(1);
    post.send("topic-1");
    assertThat(claimsUntil(1, 100)).isEqualTo(1);
  }

  @Test
  void stuckKeysInManyTopicsAreHidden() throws Exception {
    for (int topic = 0; topic < 10; topic++) {
      jam.stuck("topic-" + topic, "stuck-" + topic + "-", 300, 1, Cause.BLOCKED);
    }
    jam.send("topic-9", "healthy-", 1);
    assertThat(claimsUntil(1, 100)).isLessThanOrEqualTo(5);
    for (int i = 0; i < 8; i++) {
      assertThat(ann.claim(NAMESPACE, 100, MINUTE)).isEmpty();
    }
    assertThat(Pages.touched(post.database, CLAIM)).isLessThan(600);
  }

  @ParameterizedTest
  @EnumSource
  @Tag("EN-21")
  void theFollowersOfAStuckKeyAreNotWrittenAgain(Cause cause) {
    jam.stuck("orders", "stuck", 1, 0, cause);
    jam.run("orders", "stuck1", 2000);
    String rows =
        "select md5(string_agg(ctid || ' ' || xmin, ',' order by sequence)) from postrider.queue";
    String before = post.database.value(rows);
    for (int i = 0; i < 20; i++) {
      assertThat(ann.claim(NAMESPACE, 1 + i * 10, MINUTE)).isEmpty();
    }
    assertThat(post.database.value(rows)).isEqualTo(before);
  }

  /** Of many keys they are hidden, but each only once. */
  @Test
  @Tag("EN-21")
  void theFollowersOfManyStuckKeysAreWrittenOnce() {
    jam.stuck("orders", "stuck-", 200, 10, Cause.BACKOFF);
    for (int i = 0; i < 4; i++) {
      ann.claim(NAMESPACE, 100, MINUTE);
    }
    String rows =
        "select md5(string_agg(ctid || ' ' || xmin, ',' order by key_id, sequence)) from postrider.queue";
    String before = post.database.value(rows);
    for (int i = 0; i < 20; i++) {
      assertThat(ann.claim(NAMESPACE, 100, MINUTE)).isEmpty();
    }
    assertThat(post.database.value(rows)).isEqualTo(before);
  }

  private List<UUID> held() {
    return post.database.column("select id from postrider.queue where lease is not null").stream()
        .map(UUID::fromString)
        .toList();
  }

  private long count(String condition) {
    return post.database.count("select count(*) from postrider.queue where " + condition);
  }

  /** How many claims it takes until so many messages came. */
  private int claimsUntil(int messages, int limit) {
    Set<UUID> claimed = new TreeSet<>();
    for (int claims = 1; claims <= 100; claims++) {
      claimed.addAll(ids(ann.claim(NAMESPACE, limit, MINUTE)));
      if (claimed.size() >= messages) {
        return claims;
      }
    }
    return Integer.MAX_VALUE;
  }

  private Map<String, List<Long>> deliverAll() throws SQLException {
    Map<String, List<Long>> delivered = new HashMap<>();
    for (List<Message> batch = ann.claim(NAMESPACE, 100, MINUTE);
        !batch.isEmpty();
        batch = ann.claim(NAMESPACE, 100, MINUTE)) {
      for (Message each : batch) {
        delivered
            .computeIfAbsent(String.valueOf(each.key()), key -> new ArrayList<>())
            .add(each.sequence());
      }
      assertThat(ann.ackSent(ids(batch))).isEmpty();
    }
    return delivered;
  }
}
