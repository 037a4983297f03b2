package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Relays are woken for what they serve. */
@Tag("EN-21")
@Timeout(60)
class QuietRelaysTest {
  /** A wakeup by polling is not counted; it ends a wait for a ring that came too early. */
  private static final Duration SELDOM = Duration.ofSeconds(10);

  @AutoClose private final Post post = new Post();

  /** A relay of one topic that sleeps; returns what it hears. */
  private Heard startAsleep(String topic) {
    Heard heard = new Heard();
    Relay relay =
        post.start(
            post.builder()
                .config(Post.config().withPollInterval(SELDOM).withCarriers(1))
                .listener(heard)
                .destination("here", post.taking())
                .route("shop", topic, "here"));
    await().until(() -> relay.status().listening());
    untilAsleep();
    int before = post.delivered.size();
    post.send(topic, null);
    await().until(() -> post.delivered.size() == before + 1);
    untilAsleep();
    return heard;
  }

  private void untilAsleep() {
    post.untilEmpty();
    await()
        .until(
            () ->
                post.database.count("select sum(postrider.bell(r)) from generate_series(0, 3) r")
                    == 4);
  }

  private static long notified(Heard heard) {
    return heard.wakeups.stream().filter("notify"::equals).count();
  }

  @Test
  void oneIsNotWokenForTopicsThatItDoesNotServe() {
    Heard bills = startAsleep("bills");
    Heard orders = startAsleep("orders");
    long before = notified(bills);
    long woken = notified(orders);
    for (int i = 0; i < 20; i++) {
      post.send("orders", null);
      untilAsleep();
    }
    assertThat(notified(orders) - woken).isBetween(10L, 40L);
    // The first ring for a topic that it never met makes it look what that is.
    assertThat(notified(bills) - before).isLessThanOrEqualTo(1);
  }

  @Test
  void ofManyRelaysOfATopicTwoAreWokenAtOnce() {
    List<Heard> relays = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      relays.add(startAsleep("orders"));
    }
    // They learn of each other after a moment.
    await().until(() -> wokenBeyondTheOwners(relays, 10) <= 0);
  }

  /** Sends so many messages one by one; returns how many more wakeups there were than allowed. */
  private long wokenBeyondTheOwners(List<Heard> relays, int messages) {
    long before = relays.stream().mapToLong(QuietRelaysTest::notified).sum();
    long start = System.nanoTime();
    for (int i = 0; i < messages; i++) {
      post.send("orders", null);
      untilAsleep();
    }
    long quarters = Duration.ofNanos(System.nanoTime() - start).toMillis() / 250 + 1;
    long allowed =
        (long) RingOwners.OWNERS * messages + (relays.size() - RingOwners.OWNERS) * quarters;
    return relays.stream().mapToLong(QuietRelaysTest::notified).sum() - before - allowed;
  }

  @Test
  void ifTheOwnersOfATopicAreGoneOthersAnswer() {
    startAsleep("bills");
    post.database.execute(
        """
        insert into postrider.worker (name, instance) select 'gone/' || g, g from generate_series(1, 30) g;
        insert into postrider.relay (worker, instance, version, host, pid, listens)
        select id, instance, '1', 'h', 1, true from postrider.worker where name like 'gone/%';
        insert into postrider.relay_destination (worker, name, type)
        select id, 'here', 't' from postrider.worker where name like 'gone/%';
        insert into postrider.relay_route (worker, namespace, topic, destination)
        select id, 'shop', 'orders', 'here' from postrider.worker where name like 'gone/%'
        """);
    Heard orders = startAsleep("orders");
    post.send("orders", null);
    untilAsleep();
    assertThat(orders.wakeups).doesNotContain("poll");
  }

  @Test
  void aBusyOneSilencesOnlyItsOwnTopics() {
    post.database.execute(
        """
        select postrider.intern_route('shop', t) from unnest(array['orders', 'bills', 'mails', 'calls']) t;
        select postrider.arm_doorbell();
        select postrider.disarm_doorbell(array(select id from postrider.route where topic = 'orders'))
        """);
    assertThat(
            post.database.column(
                "select topic from postrider.route where postrider.bell(id) = 1 order by id"))
        .containsExactly("bills", "mails", "calls");
  }

  /** There are four flags, so two topics may have one: then the other one's relay polls. */
  @Test
  @Tag("EN-16")
  void aTopicWithTheFlagOfABusyOneWaitsForTheNextPoll() {
    post.database.execute(
        """
        select postrider.intern_route('shop', t)
          from unnest(array['orders', 'bills', 'mails', 'calls', 'notes']) t
        """);
    startAsleep("notes");
    String sentWithoutARing =
        """
        with lowered as materialized (
          select count(postrider.disarm_doorbell(array(select id from postrider.route where topic = 'orders'))) as n),
        sent as materialized (
          select (postrider.enqueue('shop', 'notes', '{"n": ' || n || '}')).id from lowered)
        select postrider.bell(r.id) from postrider.route r cross join sent where r.topic = 'notes'
        """;
    int before = post.delivered.size();
    assertThat(post.database.value(sentWithoutARing)).isEqualTo("0");
    await().until(() -> post.delivered.size() == before + 1);
    untilAsleep(); // it has raised the flag again
    post.send("notes", null);
    await().until(() -> post.delivered.size() == before + 2);
  }
}
