package dev.postrider.internal.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.retention.RetentionTask;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PurgeTest {
  private static final Duration MONTH = Duration.ofDays(30);

  @ParameterizedTest
  @ValueSource(ints = {TestDatabase.OLDEST, TestDatabase.NEWEST})
  @Tag("HE-11")
  void oldDedupeKeysAreForgottenInSmallSteps(int version) throws Exception {
    TestDatabase database = TestDatabase.create(version);
    database.execute(
        """
        insert into postrider.dedupe select 1, 'new' || i, postrider.new_id() from generate_series(1, 10) i;
        insert into postrider.dedupe
          select 1, 'old' || i, postrider.id_floor(now() - interval '31 days') from generate_series(1, 20000) i
        """);
    AtomicInteger steps = new AtomicInteger();

    long removed =
        purge(database)
            .run("ann", RetentionTask.DEDUPE_KEYS, MONTH, n -> steps.incrementAndGet() > 0);

    assertThat(removed).isEqualTo(20_000);
    assertThat(steps).hasValueGreaterThan(1);
    assertThat(database.count("select count(*) from postrider.dedupe")).isEqualTo(10);
    assertThat(database.column("select action || count from postrider.audit"))
        .containsExactly("purge20000");
  }

  @Test
  @Tag("HE-11")
  void oldInboxRowsAreForgotten() throws Exception {
    TestDatabase database = TestDatabase.create();
    database.execute(
        """
        insert into postrider.inbox values ('billing', postrider.new_id(), now() - interval '31 days'),
          ('billing', postrider.new_id(), now() - interval '29 days')
        """);
    assertThat(purge(database).run("ann", RetentionTask.INBOX, MONTH, n -> true)).isEqualTo(1);
    assertThatThrownBy(
            () -> purge(database).run("ann", RetentionTask.INBOX, Duration.ofMinutes(1), n -> true))
        .hasMessageContaining("at least 1 hour");
  }

  private static Purge purge(TestDatabase database) {
    return new Purge(database.dataSource(), Schema.DEFAULT);
  }
}
