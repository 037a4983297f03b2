package dev.postrider.rabbitmq;

import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Delivery;
import dev.postrider.error.DatabaseError;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.InboxResult;
import dev.postrider.inbox.Incoming;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is done with each delivery. Thread-safe; each channel calls it one at a time. */
final class Handling {
  private static final Logger log = LoggerFactory.getLogger(Handling.class);
  private static final long OUTAGE_PAUSE_MIN_MILLIS = 100;
  private static final long OUTAGE_PAUSE_MAX_MILLIS = 5_000;

  private final ConsumerConfig config;
  private final DataSource database;
  private final Inbox inbox;
  private final InboxConsumer.Handler handler;
  private final CountDownLatch closing;
  private final Semaphore idle;
  private final PastFailures pastFailures = new PastFailures();

  Handling(
      ConsumerConfig config,
      DataSource database,
      Inbox inbox,
      InboxConsumer.Handler handler,
      CountDownLatch closing) {
    this.config = config;
    this.database = database;
    this.inbox = inbox;
    this.handler = handler;
    this.closing = closing;
    this.idle = new Semaphore(config.channels());
  }

  /** Answers the broker, unless the consumer is closing: then the message goes back by itself. */
  void handle(Channel channel, PastFailures.OfChannel ofChannel, Delivery delivery)
      throws IOException {
    if (closing.getCount() == 0 || !idle.tryAcquire()) {
      return;
    }
    try {
      Received message = Received.of(delivery);
      if (message == null) {
        log.warn(
            "{}",
            rejected(delivery.getProperties().getMessageId()).put("why", "no UUID as message id"));
        reject(channel, delivery);
      } else {
        int failures = Math.max(ofChannel.deathsBy(delivery), pastFailures.of(message.id()));
        handle(channel, delivery, message, failures);
        pastFailures.answered(message.id());
      }
    } catch (AlreadyClosedException e) {
      log.debug("the channel is gone, so the message comes again", e);
    } finally {
      idle.release();
    }
  }

  /**
   * Keeps a message that fails and tries it again here: if it went back to the queue, those that
   * the broker has sent ahead would pass it, and a quorum queue puts it behind others anyway.
   */
  private void handle(Channel channel, Delivery delivery, Received message, int before)
      throws IOException {
    int failures = before;
    long outageMillis = OUTAGE_PAUSE_MIN_MILLIS;
    while (failures < config.maxDeliveries()) {
      Throwable failure = attempt(message);
      if (failure == null) {
        channel.basicAck(delivery.getEnvelope().getDeliveryTag(), false);
        return;
      }
      long pauseMillis = config.retryDelay().toMillis();
      if (isOutage(failure)) {
        pauseMillis = outageMillis;
        outageMillis = Math.min(outageMillis * 2, OUTAGE_PAUSE_MAX_MILLIS);
      } else {
        failures++;
        pastFailures.failed(message.id(), failures);
      }
      report(message, failures, failure);
      if (closedWithin(failures < config.maxDeliveries() ? pauseMillis : 0)) {
        return; // it goes back with the connection
      }
    }
    log.warn("{}", rejected(message.id()));
    reject(channel, delivery);
  }

  private LogLine rejected(@Nullable Object id) {
    return LogLine.of("inbox_rejected").put("consumer", config.consumer()).put("id", id);
  }

  private void report(Received message, int failures, Throwable failure) {
    log.warn(
        "{}",
        LogLine.of(isOutage(failure) ? "inbox_database_away" : "inbox_failed")
            .put("consumer", config.consumer())
            .put("id", message.id())
            .put("failures", failures)
            .put("error", Silenced.text(failure)),
        Silenced.of(failure));
  }

  private @Nullable Throwable attempt(Received message) {
    try {
      InboxResult verdict =
          inbox.handle(
              database,
              config.consumer(),
              Incoming.of(message.id()),
              connection -> handler.handle(connection, message));
      log.debug("message {}: {}", message.id(), verdict);
      return null;
    } catch (Throwable e) {
      return e; // an Error too is the message's failure, and not the end of the consumer
    }
  }

  private static boolean isOutage(Throwable failure) {
    if (!(failure instanceof SQLException sql)) {
      return false;
    }
    DatabaseError kind = DatabaseError.of(sql);
    return kind == DatabaseError.TRANSIENT || kind == DatabaseError.CONFLICT;
  }

  private static void reject(Channel channel, Delivery delivery) throws IOException {
    channel.basicReject(delivery.getEnvelope().getDeliveryTag(), false);
  }

  private boolean closedWithin(long millis) {
    try {
      return closing.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Waits for the handlers that run, within the consumer's shutdown timeout. */
  void awaitIdle() {
    try {
      boolean unused =
          idle.tryAcquire(
              config.channels(), config.shutdownTimeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
