package dev.postrider.internal.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.deadletter.DeadLetters;
import dev.postrider.internal.retention.Partitions;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** PostgreSQL refuses updates and deletes on a published table that has no replica identity. */
class PublicationTest {
  @TempDir private Path directory = Path.of("");

  @ParameterizedTest
  @ValueSource(ints = {TestDatabase.OLDEST, TestDatabase.NEWEST})
  @Tag("EN-15")
  void everythingWorksInADatabaseThatPublishesAllTables(int version) throws Exception {
    TestDatabase database = published(version);
    OldMessages old = new OldMessages(database);
    Courier courier = new Courier(database);

    UUID dead = courier.enqueue("'shop', 'orders', key => 'k', dedupe_key => 'd'");
    courier.enqueue("'shop', 'orders', key => 'k', dedupe_key => 'd'");
    courier.kill("boom");
    new DeadLetters(database.dataSource(), Schema.DEFAULT).requeue("ann", dead);
    assertThat(courier.deliver()).containsExactly(dead);
    Replay replay = new Replay(database.dataSource(), Schema.DEFAULT);
    replay.run(
        "ann",
        replay.start("ann", ReplayFilter.key("shop", "k")).id(),
        Pacer.perSecond(1000),
        job -> true);
    assertThat(courier.deliver()).containsExactly(dead);
    database.execute("select postrider.stream_append(array['" + dead + "'::uuid], '{1}')");

    // Moves today's rows, then takes the older ones out of the default.
    assertThat(ensure(database)).hasSize(4);
    assertThat(database.count("select count(*) from postrider.attempt_default")).isZero();
    old.delivered();
    UUID pending = old.pending();
    ArchiveConfig config = ArchiveConfig.of(Duration.ofDays(30));
    Archive archive =
        new Archive(database.dataSource(), Schema.DEFAULT, config, new DirectoryStorage(directory));
    assertThat(archive.run("ann", r -> true).removed()).isEqualTo(1);
    assertThat(database.count("select count(*) from postrider.attempt_default")).isZero();
    assertThat(courier.deliver()).containsExactly(pending);
  }

  @Test
  void aDefaultPartitionIsRetiredInADatabaseThatPublishesAllTables() {
    TestDatabase database = published(18);
    new Courier(database).enqueue("'shop', 'orders'");
    new Courier(database).deliver();
    for (String parent : new String[] {"message", "attempt"}) {
      database.execute("select postrider.retire_default('" + parent + "')");
    }
    new Courier(database).enqueue("'shop', 'orders'");
    assertThat(new Courier(database).deliver()).hasSize(1);
    assertThat(withoutIdentity(database)).isZero();
  }

  @Test
  void everyTableHasAReplicaIdentity() throws Exception {
    TestDatabase database = TestDatabase.create();
    ensure(database);
    assertThat(withoutIdentity(database)).isZero();
    assertThat(database.value("select relreplident from pg_class where relname = 'queue'"))
        .isEqualTo("f");
  }

  private static TestDatabase published(int version) {
    TestDatabase database = TestDatabase.create(version);
    database.execute("create publication everything for all tables");
    return database;
  }

  private static List<String> ensure(TestDatabase database) throws Exception {
    try (Connection connection = database.dataSource().getConnection()) {
      return new Partitions(Schema.DEFAULT).ensure(connection, 1);
    }
  }

  private static long withoutIdentity(TestDatabase database) {
    return database.count(
        """
        select count(*) from pg_class c
         where c.relnamespace = 'postrider'::regnamespace and c.relkind in ('r', 'p')
           and c.relreplident <> 'f'
           and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
        """);
  }
}
