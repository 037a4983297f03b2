package dev.postrider.internal.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.ArchiveStorage;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import dev.postrider.replay.Pacer;
import dev.postrider.replay.Replay;
import dev.postrider.replay.ReplayFilter;
import dev.postrider.replay.ReplayJob;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArchiveTest {
  private TestDatabase database = TestDatabase.create();
  private OldMessages old = new OldMessages(database);
  @TempDir private Path directory = Path.of("");

  @ParameterizedTest
  @ValueSource(ints = {TestDatabase.OLDEST, TestDatabase.NEWEST})
  @Tag("HE-11")
  void aSettledPartitionIsWrittenToAFileAndDropped(int version) throws Exception {
    database = TestDatabase.create(version);
    old = new OldMessages(database);
    old.partition();
    UUID json = old.delivered();
    UUID bytes = old.delivered("text/plain", "decode('00ff', 'hex')");
    UUID discarded = old.dead("now(), 'discarded', 'why'");
    UUID young = new Courier(database).enqueue("'shop', 'orders'");
    new Courier(database).deliver();

    ArchiveReport report = archive().run("ann", r -> true);

    assertThat(report.dropped()).containsExactly("message_old", "attempt_old");
    assertThat(report.removed()).isEqualTo(3);
    assertThat(logged()).containsExactly(young);
    assertThat(database.count("select count(*) from postrider.dead_letter")).isZero();
    assertThat(database.count("select count(*) from postrider.attempt")).isEqualTo(1);
    assertThat(lines())
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .contains(
                        json.toString(), "\"payload\":\"{\\\"n\\\": 1,\\n \\\"s\\\": \\\"ä\\\"}\"")
                    .contains("\"attempts\":[{", "\"state\":\"DISPATCHED\"", "\"worker\":\"old\""),
            line -> assertThat(line).contains(bytes.toString(), "\"payload_base64\":\"AP8=\""),
            line -> assertThat(line).contains(discarded.toString(), "\"reason\":\"why\""));
  }

  @Test
  @Tag("HE-11")
  void theFileIsRecordedWithItsCountAndChecksum() throws Exception {
    old.partition();
    old.delivered();
    archive().run("ann", r -> true);

    ArchiveFile file = archive().files(null, 10).get(0);
    byte[] bytes = Files.readAllBytes(directory.resolve(file.name()));
    assertThat(file.messages()).isEqualTo(1);
    assertThat(file.bytes()).isEqualTo(bytes.length);
    assertThat(file.location()).isEqualTo(directory.toString());
    assertThat(file.sha256())
        .isEqualTo(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)));
    assertThat(database.column("select action from postrider.audit where actor = 'ann'"))
        .containsExactly("archive.required", "archive.write", "archive.drop", "archive.drop");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("HE-11")
  void whatIsNotSettledStaysWithItsAttempts(boolean partitioned) throws Exception {
    if (partitioned) {
      old.partition();
    }
    UUID pending = old.pending();
    UUID processing = old.pending();
    database.execute("update postrider.queue set lease = 1 where id = '" + processing + "'");
    UUID dead = old.dead("null, null, null");
    old.delivered();
    old.dead("now(), 'discarded', 'why'");

    ArchiveReport report = archive().run("ann", r -> true);

    assertThat(report.kept()).isEqualTo(3);
    assertThat(report.removed()).isEqualTo(2);
    assertThat(report.dropped()).isEmpty();
    assertThat(logged()).containsExactly(pending, processing, dead);
    assertThat(database.column("select message_id from postrider.attempt"))
        .containsExactly(dead.toString());
    assertThat(database.column("select message_id from postrider.dead_letter"))
        .containsExactly(dead.toString());
  }

  @Test
  @Tag("HE-11")
  void aMessageReplayedWhileItsFileIsWrittenStays() throws Exception {
    UUID replayed = old.delivered();
    old.delivered();
    ArchiveReport report = archive().run("ann", onceInTheMiddle(() -> old.enqueue(replayed)));
    assertThat(report.archived()).isEqualTo(2);
    assertThat(logged()).containsExactly(replayed);
  }

  @Test
  @Tag("HE-11")
  @Tag("HE-10")
  void aReplayWaitsForARemovalAndFindsTheMessageGone() throws Exception {
    UUID id = old.delivered();
    database.execute(
        "select postrider.archive_record('ann', 'f', 'message_default', '%1$s', '%1$s', 1, 1, '', '')"
            .formatted(id));
    try (Connection removal = database.transaction()) {
      removal
          .createStatement()
          .execute("select postrider.archive_remove('f', array['" + id + "'::uuid])");
      CompletableFuture<ReplayJob> replay = CompletableFuture.supplyAsync(() -> replay(id));
      Awaitility.await()
          .until(
              () ->
                  database.count(
                          "select count(*) from pg_stat_activity where wait_event = 'relation'"
                              + " and datname = current_database()")
                      > 0);
      removal.commit();
      assertThat(replay.get().requeued()).isZero();
    }
    assertThat(database.count("select count(*) from postrider.queue")).isZero();
  }

  private ReplayJob replay(UUID id) {
    try {
      Replay replay = new Replay(database.dataSource(), Schema.DEFAULT);
      ReplayJob job = replay.start("bob", ReplayFilter.ids(List.of(id)));
      return replay.run("bob", job.id(), Pacer.unlimited(), step -> true);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  @Tag("HE-11")
  void aPartitionWithAMessageReplayedMeanwhileIsNotDropped() throws Exception {
    old.partition();
    UUID replayed = old.delivered();
    old.delivered();
    ArchiveReport report = archive().run("ann", onceInTheMiddle(() -> old.enqueue(replayed)));
    assertThat(report.busy()).containsExactly("message_old");
    assertThat(logged()).containsExactly(replayed);
  }

  @Test
  @Tag("HE-11")
  void aPartitionWithAMessageCommittedMeanwhileIsNotDropped() throws Exception {
    old.partition();
    old.delivered();
    ArchiveReport report = archive().run("ann", onceInTheMiddle(old::deliveredWithTheLowestId));
    assertThat(report.busy()).containsExactly("message_old");
    assertThat(report.archived()).isEqualTo(2);
    assertThat(report.removed()).isEqualTo(2);
    assertThat(lines().stream().distinct()).hasSize(2);
    assertThat(archive().run("ann", r -> true).dropped()).contains("message_old");
  }

  @Test
  @Tag("HE-11")
  void aPartitionInUseIsEmptiedRowByRow() throws Exception {
    old.partition();
    for (int i = 0; i < 3; i++) {
      old.delivered();
    }
    try (Connection reader = database.transaction()) {
      reader.createStatement().execute("lock table postrider.message in access share mode");
      ArchiveReport report = archive().run("ann", r -> true);
      assertThat(report.busy()).containsExactly("message_old");
      assertThat(report.archived()).isEqualTo(3);
      assertThat(report.removed()).isEqualTo(3);
      assertThat(report.files()).as("written again with the same content").hasSize(2);
    }
    assertThat(logged()).isEmpty();
    assertThat(lines()).hasSize(3);
    assertThat(archive().run("ann", r -> true).dropped()).containsExactly("message_old");
  }

  @Test
  @Tag("HE-11")
  void aRunThatDiesBeforeTheRemovalIsRepeatedWithoutLossOrHalfFiles() throws Exception {
    old.partition();
    UUID id = old.delivered();
    Files.createFile(directory.resolve("postrider-1.ndjson.gz.tmp"));
    try (Connection reader = database.transaction()) {
      reader.createStatement().execute("lock table postrider.message in access share mode");
      Archive dies = archive(time -> false);
      assertThatThrownBy(() -> dies.run("ann", r -> true)).isInstanceOf(SQLException.class);
    }
    assertThat(logged()).containsExactly(id);

    archive().run("ann", r -> true);

    assertThat(logged()).isEmpty();
    assertThat(files()).hasSize(1);
    assertThat(lines()).hasSize(1);
  }

  @Test
  @Tag("HE-11")
  void aRunThatDiesInTheMiddleOfAFileLeavesNoFile() {
    old.partition();
    UUID id = old.delivered();
    assertThatThrownBy(
            () ->
                archive()
                    .run(
                        "ann",
                        report -> {
                          throw new IllegalStateException("killed");
                        }))
        .hasMessage("killed");
    assertThat(files()).isEmpty();
    assertThat(logged()).containsExactly(id);
  }

  @Test
  @Tag("HE-11")
  void theDropWaitsInShortTriesForTheLock() throws Exception {
    old.partition();
    old.delivered();
    AtomicInteger pauses = new AtomicInteger();
    try (Connection reader = database.transaction()) {
      reader.createStatement().execute("lock table postrider.message in access share mode");
      Archive archive =
          archive(
              time -> {
                commit(reader);
                return pauses.incrementAndGet() < 5;
              });
      assertThat(archive.run("ann", r -> true).dropped()).contains("message_old");
    }
    assertThat(pauses).hasPositiveValue();
  }

  @Test
  @Tag("HE-11")
  void aDryRunCountsAndChangesNothing() throws Exception {
    old.partition();
    old.delivered();
    old.delivered();
    old.pending();
    assertThat(archive().dryRun())
        .contains(new ArchivePlan("message_old", false, 2, 1))
        .contains(new ArchivePlan("message_default", false, 0, 0));
    assertThat(logged()).hasSize(3);
    assertThat(files()).isEmpty();
  }

  @Test
  @Tag("HE-11")
  void aStoppedRunKeepsWhatItHasAndTheNextOneGoesOn() throws Exception {
    for (int i = 0; i < 5; i++) {
      old.delivered();
    }
    ArchiveReport stopped = archive().run("ann", report -> report.archived() < 4);
    assertThat(stopped.stopped()).isTrue();
    assertThat(stopped.removed()).isEqualTo(4);
    assertThat(archive().run("ann", r -> true).removed()).isEqualTo(1);
    assertThat(lines()).hasSize(5).doesNotHaveDuplicates();
    assertThat(files()).hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("PO-2")
  @Tag("MC-2")
  void aDuplicateOfAnArchivedMessageIsToldItsIdAndSequence(boolean partitioned) throws Exception {
    if (partitioned) {
      old.partition();
    }
    UUID keyed = old.deliveredOnce(7, "d");
    archive().run("ann", r -> true);
    assertThat(logged()).isEmpty();

    NewMessage again = NewMessage.to("shop", "orders").key("k").dedupeKey("d").json("{}").build();
    Enqueued known = new Enqueued(keyed, 7L, true);
    try (Connection connection = database.transaction()) {
      assertThat(new Outbox().enqueue(connection, again)).isEqualTo(known);
      assertThat(new Outbox().enqueue(connection, List.of(again))).containsExactly(known);
      connection.commit();
    }
    assertThat(logged()).isEmpty();
  }

  @Test
  @Tag("HE-11")
  void onlyOneRunAtATime() throws Exception {
    archive()
        .run(
            "ann",
            report -> {
              assertThatThrownBy(() -> archive().run("bob", r -> true))
                  .hasMessageContaining("another archive run");
              return true;
            });
  }

  @Test
  @Tag("HE-11")
  void aRetentionThatEnqueueCouldStillWriteToIsRefused() {
    assertThatThrownBy(() -> ArchiveConfig.of(Duration.ofDays(1)))
        .hasMessageContaining("at least 2 days");
  }

  private static Predicate<ArchiveReport> onceInTheMiddle(Runnable act) {
    AtomicInteger calls = new AtomicInteger();
    return report -> {
      if (calls.getAndIncrement() == 0) {
        act.run();
      }
      return true;
    };
  }

  private Archive archive() {
    return archive(time -> true);
  }

  private Archive archive(Archive.Pause pause) {
    ArchiveConfig config = new ArchiveConfig(Duration.ofDays(30), 2);
    ArchiveStorage storage = new DirectoryStorage(directory);
    return new Archive(database.dataSource(), Schema.DEFAULT, config, storage, pause);
  }

  private List<UUID> logged() {
    return database.column("select id from postrider.message order by id").stream()
        .map(UUID::fromString)
        .toList();
  }

  private List<Path> files() {
    try (Stream<Path> files = Files.list(directory)) {
      return files.sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<String> lines() {
    return files().stream().flatMap(ArchiveTest::lines).sorted().toList();
  }

  private static Stream<String> lines(Path file) {
    try (Stream<String> lines = Archive.lines(file)) {
      return lines.toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void commit(Connection connection) {
    try {
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
