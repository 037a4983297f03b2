package dev.postrider.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.lease.LeaseStore;
import dev.postrider.schema.Schema;
import dev.postrider.testing.Courier;
import dev.postrider.testing.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class OwnLoopTest {
  private final TestDatabase database = TestDatabase.create();
  private final Courier courier = new Courier(database);

  @Test
  void theReferenceShowsTheLoopThatRuns() throws Exception {
    String source = Files.readString(Path.of("src/test/java/dev/postrider/docs/OwnLoop.java"));
    Matcher step =
        Pattern.compile("    // step 1\n(.*?)    // end", Pattern.DOTALL).matcher(source);
    assertThat(step.find()).isTrue();
    assertThat(Files.readString(Path.of("../docs/reference/lease-store.md")))
        .contains(step.group(1).stripTrailing().stripIndent());
  }

  @Test
  @Tag("LP-2")
  void whatAWorkerNoLongerHoldsIsNotSent() {
    UUID first = courier.enqueue("'memory', 'notes'");
    UUID second = courier.enqueue("'memory', 'places'");
    LeaseStore quick = worker("quick");
    AtomicInteger sent = new AtomicInteger();

    OwnLoop.flush(
        worker("slow"),
        content -> {
          sent.incrementAndGet();
          // The call takes longer than the lease, and another worker takes both messages over.
          database.execute("update postrider.lease set until = now() - interval '1 s'");
          assertThat(quick.claim("memory", 10, Duration.ofMinutes(1))).hasSize(2);
          return new OwnLoop.Result("late", "");
        });

    assertThat(sent).hasValue(1);
    assertThat(quick.ackSent(List.of(first, second))).as("no longer held").isEmpty();
    assertThat(
            database.column(
                "select error from postrider.attempt_history where state = 'CONFLICT' order by 1"))
        .hasSize(2);
  }

  private LeaseStore worker(String name) {
    return new LeaseStore(database.dataSource(), Schema.DEFAULT, name);
  }
}
