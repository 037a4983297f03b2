package dev.postrider.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testing.Postbox;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Producers, workers that fail in every way, an operator and an observer, all at once, on few and
 * hot keys. The database itself refuses a message that leaves the queue before its predecessor, so
 * order is checked at the very moment; everything else by one snapshot after the other.
 */
@Timeout(150)
class QueueModelTest {
  /** Two keys take most of the messages, so that there is something to hide behind the first. */
  private static final String PRODUCE =
      """
      do $$ begin
        for i in 1..%d loop
          perform postrider.enqueue('shop', 'topic-' || floor(random() * 3)::int, '{}',
            case when i %% 10 < 6 then 'hot-' || i %% 2 when i %% 10 < 9 then 'key-' || i %% 37 end);
          if i %% 20 = 0 then
            commit;
          end if;
        end loop;
      end $$
      """;

  private static final String ORDER_TRIGGER =
      """
      create function public.check_order() returns trigger language plpgsql as $$
      begin
        if exists (select from postrider.queue q
                    where q.key_id = old.key_id and q.sequence < old.sequence) then
          raise exception 'key % : % left before its predecessor', old.key_id, old.sequence;
        end if;
        return null;
      end $$;
      create trigger check_order after delete on postrider.queue
        for each row execute function public.check_order()
      """;

  /** Keeps claims out, as whoever changes rows of a key outside a claim must. */
  private static final String UNBLOCK =
      """
      begin;
      lock table postrider.claim_lock in share row exclusive mode;
      with freed as (
        update postrider.queue set blocked = false, lane = -1 - lane, due_at = null,
               delivery = delivery + 1, attempts = 0
         where blocked returning id, delivery - 1 as delivery)
      update postrider.dead_letter d set resolved_at = now(), resolution = 'requeued'
        from freed f where f.id = d.message_id and f.delivery = d.delivery;
      commit
      """;

  /** Of all keys, whatever their number; the function looks itself which cannot go. */
  private static final String HIDE =
      """
      select postrider.hide_followers(array_agg(k.key_id), array_agg(k.sequence), '{1, 2, 3}')
        from (select key_id, min(sequence) as sequence from postrider.queue
               where lane >= 0 group by key_id having key_id is not null) k
      """;

  /** A message that lost several leases waits for long. */
  private static final String HURRY =
      """
      update postrider.queue set due_at = now()
       where ctid = any (array(select ctid from postrider.queue
                                where due_at < 'infinity' and lost_leases > 2 for update skip locked))
      """;

  private static final String HIDDEN =
      "select count(*) from postrider.queue where due_at = 'infinity' and not blocked";

  private final AtomicBoolean hiddenSeen = new AtomicBoolean();
  private final Map<UUID, Integer> sends = new ConcurrentHashMap<>();
  private final AtomicBoolean produced = new AtomicBoolean();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  @ParameterizedTest
  @CsvSource({"18, 1", "15, 2"})
  @Tag("PO-5")
  @Tag("PO-6")
  @Tag("EN-7")
  @Tag("EN-8")
  void whateverHappensNothingIsLostDoubledOrOutOfOrder(int version, long seed) throws Exception {
    Postbox post = new Postbox(version);
    for (int topic = 0; topic < 3; topic++) {
      post.send("topic-" + topic);
    }
    post.database.execute(ORDER_TRIGGER);
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      running.add(threads.submit(worker(post, new Random(seed * 100 + i), i)));
    }
    running.add(threads.submit(observer(post)));
    Future<?> producer = threads.submit(() -> post.database.execute(PRODUCE.formatted(1200)));
    post.database.execute(PRODUCE.formatted(1200));
    producer.get();
    produced.set(true);
    for (Future<?> each : running) {
      each.get();
    }
    checkEnd(post);
  }

  private Callable<Void> worker(Postbox post, Random random, int number) {
    return () -> {
      try (Connection connection = post.database.dataSource().getConnection()) {
        int id = (int) post.database.count("select postrider.worker_id('w" + number + "')");
        ModelWorker worker =
            new ModelWorker(connection, random, id, sent -> sends.merge(sent, 1, Integer::sum));
        while (!done(post)) {
          for (int i = 0; i < 10; i++) {
            worker.turn();
          }
        }
      }
      return null;
    };
  }

  /**
   * Looks at every invariant all the time, hides what stands behind messages that cannot go,
   * unblocks.
   */
  private Callable<Void> observer(Postbox post) {
    return () -> {
      while (!done(post)) {
        assertThat(post.violations()).isEmpty();
        if (post.database.count(HIDDEN) > 0) {
          hiddenSeen.set(true);
        }
        post.database.execute(HIDE);
        post.database.execute(HURRY);
        post.database.execute(UNBLOCK);
      }
      return null;
    };
  }

  private boolean done(Postbox post) {
    return produced.get()
        && post.database.count("select count(*) from (select from postrider.queue limit 1) q") == 0;
  }

  private void checkEnd(Postbox post) {
    post.check();
    assertThat(hiddenSeen).as("messages were hidden").isTrue();
    assertThat(post.database.count("select count(*) from postrider.lease")).isZero();
    assertThat(post.database.count("select count(*) from postrider.message")).isEqualTo(2403);
    assertThat(
            post.database.column(
                """
                select m.id from postrider.message m
                 where (select count(*) from postrider.attempt a
                         where a.message_id = m.id and a.state in (1, 3)
                           and not exists (select from postrider.dead_letter d
                                            where d.message_id = m.id and d.delivery = a.delivery
                                              and d.resolution = 'requeued')) <> 1
                """))
        .as("ended other than once")
        .isEmpty();
    Map<UUID, Integer> attempts = new ConcurrentHashMap<>();
    post.database
        .column("select message_id from postrider.attempt where state <> 5")
        .forEach(id -> attempts.merge(UUID.fromString(id), 1, Integer::sum));
    assertThat(sends)
        .allSatisfy((id, count) -> assertThat(count).isLessThanOrEqualTo(attempts.get(id)));
    assertThat(post.database.count("select count(*) from postrider.attempt where state = 4"))
        .as("leases lapsed")
        .isPositive();
  }
}
