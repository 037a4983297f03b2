package dev.postrider.examples.usagebilling;

import dev.postrider.examples.stage.Stage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * People who chat. At the end of every turn two finalizers race: the provider's last word, and the
 * connection that the user has closed. Thread-safe.
 */
final class Users implements AutoCloseable {
  private static final int COUNT = 4;

  private final Turns turns;
  private final Stage stage;
  private final AtomicLong lost = new AtomicLong();
  private final ExecutorService threads = Executors.newFixedThreadPool(2 * COUNT);
  private final List<CompletableFuture<Void>> running = new ArrayList<>();

  Users(Turns turns, Stage stage) {
    this.turns = turns;
    this.stage = stage;
    for (int user = 0; user < COUNT; user++) {
      int number = user;
      running.add(CompletableFuture.runAsync(() -> chat(number), threads));
    }
  }

  /** Finalizers that came too late, and did nothing. */
  long lost() {
    return lost.get();
  }

  private void chat(int number) {
    Random random = new Random(number);
    try {
      UUID tenant = tenant(stage, 10_000_000);
      while (stage.goesOn(Duration.ofMillis(10))) {
        String prompt = "x".repeat(20 + random.nextInt(400));
        Optional<UUID> turn = turns.begin(tenant, "user-" + number, prompt);
        if (turn.isEmpty()) {
          return; // out of quota
        }
        TurnEnd end = TurnEnd.completed(prompt.length() / 4, random.nextInt(800));
        CompletableFuture<Void> other =
            CompletableFuture.runAsync(() -> finish(turn.get(), TurnEnd.cancelled()), threads);
        finish(turn.get(), end);
        other.join();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void finish(UUID turn, TurnEnd end) {
    try {
      if (!turns.finish(turn, end)) {
        lost.incrementAndGet();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static UUID tenant(Stage stage, long credits) throws SQLException {
    UUID tenant = UUID.randomUUID();
    try (Connection connection = stage.dataSource().getConnection();
        PreparedStatement insert =
            connection.prepareStatement(
                "insert into mini_chat.quota (tenant, credit_limit) values (?, ?)")) {
      insert.setObject(1, tenant);
      insert.setLong(2, credits);
      insert.executeUpdate();
    }
    return tenant;
  }

  /** Waits for the turns that are under way; fails if one of the users did. */
  @Override
  public void close() {
    try {
      CompletableFuture.allOf(running.toArray(CompletableFuture[]::new))
          .orTimeout(20, TimeUnit.SECONDS)
          .join();
    } finally {
      threads.shutdownNow();
    }
  }
}
