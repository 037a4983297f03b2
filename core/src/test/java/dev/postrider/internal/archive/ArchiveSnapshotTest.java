package dev.postrider.internal.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run holds a lock in an open transaction. Vacuum must not wait for it. */
class ArchiveSnapshotTest {
  private static final String IN_TRANSACTION =
      """
      select coalesce(backend_xmin::text, 'no snapshot') from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend'
         and state = 'idle in transaction'
      """;

  @TempDir private Path directory = Path.of("");

  @ParameterizedTest
  @ValueSource(strings = {"read committed", "repeatable read", "serializable"})
  @Tag("HE-11")
  void aRunKeepsNoSnapshotWhateverTheDefaultIsolation(String isolation) throws Exception {
    TestDatabase database = TestDatabase.create();
    OldMessages old = new OldMessages(database);
    old.delivered();
    old.delivered();
    database.execute(
        """
        do $$ begin
          execute format('alter database %I set default_transaction_isolation = %L',
            current_database(), 'ISOLATION');
        end $$
        """
            .replace("ISOLATION", isolation));
    Archive archive =
        new Archive(
            database.dataSource(),
            Schema.DEFAULT,
            new ArchiveConfig(Duration.ofDays(30), 1),
            new DirectoryStorage(directory));
    List<String> held = new ArrayList<>();

    ArchiveReport report =
        archive.run("ann", progress -> held.addAll(database.column(IN_TRANSACTION)));

    assertThat(report.removed()).isEqualTo(2);
    assertThat(held).isNotEmpty().containsOnly("no snapshot");
  }
}
