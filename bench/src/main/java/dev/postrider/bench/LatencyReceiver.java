package dev.postrider.bench;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import dev.postrider.wake.PromptSocketFactory;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * The other process of the latency scenario: a relay, and two bare listeners, one with the driver's
 * own sockets (N) and one with those of the relay's doorbell (P). Prints R, N or P and the
 * nanoseconds since the time in the message. Ends when it is destroyed.
 */
final class LatencyReceiver {
  private LatencyReceiver() {}

  public static void main(String[] arguments) throws Exception {
    BenchDatabase database = BenchDatabase.at(arguments[0]);
    Relay relay =
        Relay.builder(database.dataSource())
            .destination(
                "here",
                HandlerDestination.inline(
                    message -> {
                      heard('R', message.text());
                      return Outcome.delivered();
                    }))
            .route("bench", "latency", "here")
            .build()
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(relay::close));
    CountDownLatch listening = new CountDownLatch(2);
    listen('N', "bench_bare", database.dataSource(), listening);
    listen('P', "bench_prompt", PromptSocketFactory.on(database.dataSource()), listening);
    listening.await();
    while (!relay.status().listening()) {
      LockSupport.parkNanos(1_000_000);
    }
    System.out.println("ready");
  }

  private static void listen(
      char tag, String channel, DataSource dataSource, CountDownLatch listening) {
    Thread thread = new Thread(() -> hear(tag, channel, dataSource, listening), channel);
    thread.start();
  }

  private static void hear(
      char tag, String channel, DataSource dataSource, CountDownLatch listening) {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("listen " + channel);
      listening.countDown();
      PGConnection bare = connection.unwrap(PGConnection.class);
      while (true) {
        PGNotification[] notifications = bare.getNotifications(10_000);
        for (int i = 0; notifications != null && i < notifications.length; i++) {
          heard(tag, notifications[i].getParameter());
        }
      }
    } catch (SQLException e) {
      System.exit(1); // the database is gone, and with it the scenario
    }
  }

  private static void heard(char tag, String sentNanos) {
    System.out.println(tag + Long.toString(System.nanoTime() - Long.parseLong(sentNanos)));
  }
}
