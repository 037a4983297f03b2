package dev.postrider.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.embedded.EmbeddedServer;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The harness in real processes, for Postrider and for one that is not ours. */
class PeerProcessTest {
  private static final int MESSAGES = 300;

  private static EmbeddedServer server;

  @BeforeAll
  static void start() {
    server = EmbeddedServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  static List<Contestant> contestants() {
    return List.of(Contestant.POSTRIDER, Contestant.DB_SCHEDULER);
  }

  @ParameterizedTest
  @MethodSource("contestants")
  void aBacklogIsDrainedOnceEach(Contestant contestant) throws Exception {
    try (PeerProcess process = PeerProcess.start(contestant, server.jdbcUrl())) {
      process.ask("install", "done");
      process.ask("load " + MESSAGES, "done");
      process.ask("drain " + MESSAGES + " all", "ready");
      PeerProcess.Answer done = process.ask("go", "done");

      assertThat(tally(process)).isEqualTo(new Stage.Tally(0, 0));
      assertThat(done.number("to")).isGreaterThan(done.number("from"));
      assertThat(done.number("cpu")).isPositive();
    }
  }

  @Test
  void whatNeverComesIsCountedAsLost() throws Exception {
    try (PeerProcess process = PeerProcess.start(Contestant.POSTRIDER, server.jdbcUrl())) {
      process.ask("install", "done");
      process.ask("load " + MESSAGES, "done");
      BenchDatabase.at(server.jdbcUrl())
          .execute(
              "delete from postrider.queue where id in (select id from postrider.queue limit 7)");
      process.ask("drain " + MESSAGES + " shared", "ready");
      process.ask("go", "done");

      assertThat(tally(process)).isEqualTo(new Stage.Tally(7, 0));
    }
  }

  @ParameterizedTest
  @MethodSource("contestants")
  void producersCommitAndAHandlerElsewhereHearsOfIt(Contestant contestant) throws Exception {
    try (PeerProcess handler = PeerProcess.start(contestant, server.jdbcUrl());
        PeerProcess producer = PeerProcess.start(contestant, server.jdbcUrl())) {
      handler.ask("install", "done");
      producer.ask("enqueue 2 100", "ready");
      assertThat(producer.ask("go", "done").number("count")).isPositive();
      producer.expect("closed");

      handler.ask("install", "done");
      handler.ask("handle 10", "ready");
      String[] sent = producer.ask("produce 10 1000000", "done").text("sent").split(",", -1);
      String[] came = handler.ask("arrivals 20000", "done").text("times").split(",", -1);
      assertThat(handler.ask("stop", "closed").number("handled")).isEqualTo(10);
      for (int i = 0; i < 10; i++) {
        assertThat(Long.parseLong(came[i])).isGreaterThan(Long.parseLong(sent[i]));
      }
    }
  }

  @Test
  void aCommandThatFailsSaysWhyAndTheProcessGoesOn() throws Exception {
    try (PeerProcess process = PeerProcess.start(Contestant.POSTRIDER, server.jdbcUrl())) {
      assertThatThrownBy(() -> process.ask("stop", "closed"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("it handles nothing");

      process.ask("install", "done");
    }
  }

  private static Stage.Tally tally(PeerProcess process) throws InterruptedException {
    return Stage.Tally.of(MESSAGES, List.of(process.expect("closed")));
  }
}
