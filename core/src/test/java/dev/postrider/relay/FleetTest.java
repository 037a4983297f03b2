package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.error.RefusedException;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.internal.monitor.LiveRelay;
import dev.postrider.internal.monitor.LiveRelay.Served;
import dev.postrider.internal.monitor.LiveRelay.ServedRoute;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import dev.postrider.operations.Pauses;
import dev.postrider.schema.Roles;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.LoggerFactory;

/** What relays record about themselves, seen through the database. */
@Tag("OP-9")
@Timeout(60)
class FleetTest {
  @AutoClose private final Post post = new Post();
  private final Fleet fleet = new Fleet(post.database.dataSource(), Schema.DEFAULT);
  private final Pauses pauses = new Pauses(post.database.dataSource(), Schema.DEFAULT);

  private Relay start(String name, String topic) {
    return post.start(
        post.builder()
            .config(Post.config().withName(name))
            .destination("rail", post.taking())
            .destination("spare", post.taking())
            .route("shop", topic, "rail"));
  }

  private List<LiveRelay> recorded(int count) throws SQLException {
    await().until(() -> read().relays().stream().filter(r -> r.version() != null).count() == count);
    return read().relays();
  }

  private Fleet.State read() throws SQLException {
    return fleet.read();
  }

  @Test
  void aRelayIsSeenWithWhatItServesUntilItStops() throws Exception {
    Relay relay = start("night", "orders");
    LiveRelay seen = recorded(1).get(0);
    assertThat(seen.name()).isEqualTo("night");
    assertThat(seen.version()).matches("\\d+\\.\\d+\\.\\d+.*");
    assertThat(seen.pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(seen.host()).isNotBlank();
    assertThat(seen.lost()).isFalse();
    assertThat(seen.destinations())
        .extracting(Served::name, Served::type, Served::breaker, Served::openTargets)
        .containsExactly(
            tuple("rail", "handler", "closed", 0), tuple("spare", "handler", "closed", 0));
    assertThat(seen.destinations().get(0).since()).isBeforeOrEqualTo(Instant.now().plusSeconds(60));
    assertThat(seen.routes()).containsExactly(new ServedRoute("shop", "orders", "", "rail"));
    relay.close();
    assertThat(read().relays()).isEmpty();
  }

  @Test
  void theDestinationOfATopicIsThatOfItsMostSpecificRoute() throws Exception {
    post.start(
        post.builder()
            .destination("all", post.taking())
            .destination("rail", post.taking())
            .route("*", "*", "all")
            .route("shop", "orders", "rail"));
    recorded(1);
    assertThat(fleet.destinationsOf(new Route("shop", "orders"))).containsExactly("rail");
    assertThat(fleet.destinationsOf(new Route("shop", "bills"))).containsExactly("all");
    start("other", "bills");
    recorded(2);
    assertThat(fleet.destinationsOf(new Route("shop", "bills"))).containsExactly("all", "rail");
  }

  @Test
  void theDestinationIsKnownHoweverManyRoutesARelayHas() throws Exception {
    Relay.Builder many =
        post.builder().destination("all", post.taking()).destination("rail", post.taking());
    for (int i = 100; i < 250; i++) {
      many.route("shop", "topic-" + i, "all");
    }
    post.start(many.route("shop", "zebra", "rail").subscription("shop", "zebra", "mail", "all"));
    assertThat(recorded(1).get(0).routes()).as("the first of them").hasSize(100);
    assertThat(fleet.destinationsOf(new Route("shop", "zebra"))).containsExactly("rail");
    assertThat(fleet.destinationsOf(new Route("shop", "zebra", "mail"))).containsExactly("all");
    assertThat(fleet.destinationsOf(new Route("shop", "none"))).isEmpty();
  }

  @Test
  void twoProcessesWithOneNameAreTwoRelays() throws Exception {
    start("same", "orders");
    start("same", "bills");
    assertThat(recorded(2))
        .flatExtracting(LiveRelay::routes)
        .extracting(ServedRoute::topic)
        .containsExactlyInAnyOrder("orders", "bills");
  }

  @Test
  void aChangedBreakerIsRecordedAndNothingElseIsWritten() throws Exception {
    AtomicBoolean down = new AtomicBoolean(true);
    post.start(
        HandlerDestination.inline(
            message ->
                down.get() ? Outcome.unavailable("down", "no connection") : post.take(message)),
        DestinationOptions.DEFAULT.withBreaker(
            new BreakerOptions(1, Duration.ofMillis(100), Duration.ofMillis(100))),
        RouteOptions.DEFAULT);
    recorded(1);
    String untouched = post.database.column("select xmin from postrider.relay").get(0);
    post.send("orders", null);
    await().until(() -> !read().relays().get(0).destinations().get(0).closed());
    down.set(false);
    post.untilEmpty();
    await().until(() -> read().relays().get(0).destinations().get(0).closed());
    String settled = versions();
    long beats = seen();
    await().until(() -> seen() > beats + 2_000_000); // two seconds of heartbeats
    assertThat(versions()).isEqualTo(settled);
    assertThat(post.database.column("select xmin from postrider.relay")).containsExactly(untouched);
  }

  @Test
  void theNextProbeIsRecorded() throws Exception {
    post.start(
        HandlerDestination.inline(message -> Outcome.unavailable("down", "no connection")),
        DestinationOptions.DEFAULT.withBreaker(
            new BreakerOptions(1, Duration.ofMinutes(30), Duration.ofMinutes(30))),
        RouteOptions.DEFAULT);
    recorded(1);
    assertThat(read().relays().get(0).destinations().get(0).probeAt()).isNull();
    post.send("orders", null);
    await().until(() -> !read().relays().get(0).destinations().get(0).closed());
    assertThat(read().relays().get(0).destinations().get(0).probeAt())
        .isBetween(
            Instant.now().plus(Duration.ofMinutes(20)), Instant.now().plus(Duration.ofMinutes(31)));
  }

  private String versions() {
    return post.database
        .column("select ctid::text || xmin from postrider.relay_destination")
        .toString();
  }

  private long seen() {
    return post.database.count(
        "select (extract(epoch from max(seen_at)) * 1000000)::bigint from postrider.worker");
  }

  @Test
  void aRecordGoesWithItsWorker() throws Exception {
    Relay relay = start("night", "orders");
    recorded(1);
    relay.close();
    post.database.execute("delete from postrider.worker");
    for (String table : List.of("relay", "relay_destination", "relay_route")) {
      assertThat(post.database.count("select count(*) from postrider." + table)).isZero();
    }
  }

  @Test
  void relaysThatWereGoneForADayAreForgottenByTheNextOne() throws Exception {
    start("other", "orders");
    recorded(1);
    post.database.execute(
        """
        insert into postrider.worker (name, instance, seen_at)
        values ('killed/1', 'k', now() - interval '25 hours');
        insert into postrider.relay (worker, instance, version, host, pid, listens)
        select id, instance, '1', 'h', 1, true from postrider.worker where instance = 'k'
        """);
    start("new", "orders");
    recorded(2);
    assertThat(post.database.column("select instance from postrider.relay")).doesNotContain("k");
  }

  @Test
  void aTopicWithoutARouteIsFoundAndLoggedOnce() throws Exception {
    ListAppender<ILoggingEvent> lines = listen(UnroutedTopics.class);
    start("one", "orders");
    start("two", "bills");
    recorded(2);
    post.send("typo", null);
    post.send("orders", null);
    await().until(() -> read().unrouted().equals(List.of(new Route("shop", "typo"))));
    await().until(() -> warnings(lines, "typo") == 2);
    post.send("typo", null);
    long beats = seen();
    await().until(() -> seen() > beats + 500_000);
    assertThat(warnings(lines, "typo")).as("once for each relay").isEqualTo(2);
    assertThat(warnings(lines, "orders") + warnings(lines, "bills")).isZero();
    start("three", "*");
    await().until(() -> read().unrouted().isEmpty());
  }

  @Test
  @Tag("EN-23")
  void aSubscriptionWithoutARouteIsLoggedByItsName() throws Exception {
    ListAppender<ILoggingEvent> lines = listen(UnroutedTopics.class);
    post.database.execute("select postrider.subscription_add('ann', 'shop', 'orders', 'mail')");
    start("one", "orders");
    recorded(1);
    post.send("orders", null);
    await().until(() -> warnings(lines, "orders subscription=mail") == 1);
    assertThat(read().unrouted()).containsExactly(new Route("shop", "orders", "mail"));
    assertThat(warnings(lines, "orders")).as("not the default subscription").isEqualTo(1);
    post.start(
        post.builder()
            .destination("mail", post.taking())
            .subscription("shop", "orders", "mail", "mail"));
    await().until(() -> read().unrouted().isEmpty());
    post.untilEmpty();
  }

  /** Its configuration names a subscription that the topic does not have yet. */
  @Test
  @Tag("EN-23")
  void aSubscriptionThatCannotBeAddedIsLoggedAndAddedLater() throws Exception {
    post.send("orders", null);
    ListAppender<ILoggingEvent> lines = listen(ReconnectingSession.class);
    try (Connection producer = post.database.transaction()) {
      producer.createStatement().execute("select postrider.enqueue('shop', 'orders', '{}')");
      post.start(
          post.builder()
              .destination("mail", post.taking())
              .subscription("shop", "orders", "mail", "mail"));
      await()
          .until(
              () ->
                  List.copyOf(lines.list).stream()
                      .map(ILoggingEvent::getFormattedMessage)
                      .anyMatch(
                          line ->
                              line.startsWith("event=outbox_database_failed action=subscribe ")
                                  && line.contains("has been open for longer than 200 ms")));
      assertThat(post.database.count("select count(*) from postrider.subscription")).isZero();
      producer.commit();
    }
    await()
        .until(
            () ->
                post.database.count("select count(*) from postrider.subscription where name <> ''")
                    == 1);
  }

  private static ListAppender<ILoggingEvent> listen(Class<?> source) {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    Logger logger = (Logger) LoggerFactory.getLogger(source);
    logger.setLevel(Level.INFO);
    logger.addAppender(lines);
    return lines;
  }

  private static long warnings(ListAppender<ILoggingEvent> lines, String topic) {
    return List.copyOf(lines.list).stream()
        .map(ILoggingEvent::getFormattedMessage)
        .filter(
            line -> line.startsWith("event=outbox_topic_unrouted namespace=shop topic=" + topic))
        .count();
  }

  /** It does not record what it serves, so nothing is said about topics that may be its own. */
  @Test
  void whereALoopOnTheLeaseStoreRunsNoTopicIsCalledUnrouted() throws Exception {
    start("one", "orders");
    recorded(1);
    post.send("mine", null);
    await().until(() -> !read().unrouted().isEmpty());
    new LeaseStore(post.database.dataSource(), Schema.DEFAULT, "loop")
        .claim("elsewhere", 1, Duration.ofMinutes(1));
    assertThat(read().unrouted()).isEmpty();
    post.database.execute(
        "update postrider.worker set seen_at = now() - interval '11 minutes' where name = 'loop'");
    assertThat(read().unrouted()).as("the loop has ended").hasSize(1);
  }

  @Test
  void startingIsOneLineWithDestinationsAndRoutes() {
    ListAppender<ILoggingEvent> lines = listen(Registration.class);
    start("night", "orders");
    assertThat(lines.list)
        .singleElement()
        .satisfies(
            line ->
                assertThat(line.getFormattedMessage())
                    .startsWith("event=outbox_relay_started relay=night version=")
                    .contains("destinations=\"rail (handler), spare (handler)\"")
                    .contains("routes=\"shop/orders -> rail\""));
  }

  @Test
  void aDestinationThatNoRelayKnowsIsPausedOnlyByForce() throws Exception {
    assertThatThrownBy(() -> pauses.pause("ann", Pauses.Kind.DESTINATION, "rail"))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("no relay has run within the last day");
    Relay relay = start("night", "orders");
    recorded(1);
    assertThatThrownBy(() -> pauses.pause("ann", Pauses.Kind.DESTINATION, "rial"))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("no relay knows a destination rial; known are: rail, spare")
        .hasMessageContaining("force");
    assertThat(pauses.list()).isEmpty();
    assertThat(pauses.pause("ann", Pauses.Kind.DESTINATION, "rail")).isTrue();
    assertThat(pauses.pause("ann", Pauses.Kind.DESTINATION, "rial", true)).isTrue();
    assertThat(pauses.pause("ann", Pauses.Kind.DESTINATION, "rial")).as("already").isFalse();
    relay.close();
    assertThat(pauses.pause("ann", Pauses.Kind.DESTINATION, "spare"))
        .as("known from a relay that ran lately")
        .isTrue();
  }

  @Test
  void theRelaysRoleIsEnough() throws Exception {
    post.database.execute(new Roles(Schema.DEFAULT).script());
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(post.database.jdbcUrl());
    dataSource.setOptions("-c role=postrider_relay");
    post.start(
        Relay.builder(dataSource)
            .config(Post.config())
            .destination("rail", post.taking())
            .route("shop", "orders", "rail"));
    recorded(1);
  }
}
