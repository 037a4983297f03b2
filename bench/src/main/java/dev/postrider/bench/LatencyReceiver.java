package dev.postrider.bench;

import dev.postrider.dispatch.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.relay.Relay;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * The other process of the latency scenario: a relay, and a bare listener. Prints R or N and the
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
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("listen bench_bare");
      while (!relay.status().listening()) {
        LockSupport.parkNanos(1_000_000);
      }
      System.out.println("ready");
      PGConnection listening = connection.unwrap(PGConnection.class);
      while (true) {
        PGNotification[] notifications = listening.getNotifications(10_000);
        if (notifications != null) {
          for (PGNotification notification : notifications) {
            heard('N', notification.getParameter());
          }
        }
      }
    }
  }

  private static void heard(char tag, String sentNanos) {
    System.out.println(tag + Long.toString(System.nanoTime() - Long.parseLong(sentNanos)));
  }
}
