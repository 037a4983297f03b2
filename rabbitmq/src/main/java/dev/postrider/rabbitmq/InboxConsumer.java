package dev.postrider.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import dev.postrider.inbox.Inbox;
import dev.postrider.internal.text.LogLine;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes a queue so that the effect of each message happens once: the handler and the inbox share
 * one transaction, and only after its commit is the message acknowledged. A duplicate is
 * acknowledged without the effect. A message whose handler fails is handled again after a pause,
 * before its successors, and after so many failures rejected into the dead letters. While the
 * database is away messages are kept and nothing counts as failed. Connects by itself, and again
 * whenever the connection is lost. Thread-safe.
 *
 * <p>A message that fails is not given back to the queue in between, as {@code basic.nack} with
 * requeue would do it: its successors, which the broker has sent ahead, would pass it; it would
 * come again at once, without a pause; and a classic queue does not count, so nothing but a memory
 * outside of it could end that. Kept here, order, pause and bound hold for every kind of queue.
 */
public final class InboxConsumer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(InboxConsumer.class);
  private static final long PAUSE_MIN_MILLIS = 100;
  private static final long PAUSE_MAX_MILLIS = 10_000;
  private static final int ABORT_MILLIS = 2_000;
  private static final long CLOSE_MILLIS = 5_000;

  private final ConsumerConfig config;
  private final NettyConnections connections;
  private final Handling handling;
  private final ExecutorService handlers;
  private final Thread thread;
  private final CountDownLatch closing;

  /** Used by its thread. */
  private boolean hasConsumed;

  private final List<Channel> channels = new CopyOnWriteArrayList<>();

  /** What is done with a message, on the connection it is given; the commit is not its business. */
  @FunctionalInterface
  public interface Handler {
    void handle(java.sql.Connection connection, Received message) throws Exception;
  }

  private InboxConsumer(ConsumerConfig config, DataSource database, Inbox inbox, Handler handler) {
    this.config = config;
    this.connections = new NettyConnections(config.broker());
    this.closing = new CountDownLatch(1);
    this.handling = new Handling(config, database, inbox, handler, closing);
    this.handlers = Executors.newFixedThreadPool(config.channels(), this::daemon);
    this.thread = daemon(this::run);
  }

  private Thread daemon(Runnable task) {
    Thread fresh = new Thread(task, "postrider-inbox-" + config.consumer());
    fresh.setDaemon(true);
    return fresh;
  }

  /**
   * Starts to consume and returns at once, also if the broker is away. The queue must exist, and so
   * must its dead letters, {@code <queue>.dlq}: without them what is rejected would be lost.
   */
  public static InboxConsumer start(
      ConsumerConfig config, DataSource database, Inbox inbox, Handler handler) {
    InboxConsumer consumer = new InboxConsumer(config, database, inbox, handler);
    consumer.thread.start();
    return consumer;
  }

  /** Whether it is connected and consuming. */
  public boolean isConsuming() {
    return !channels.isEmpty() && channels.stream().allMatch(Channel::isOpen);
  }

  private void run() {
    long pauseMillis = PAUSE_MIN_MILLIS;
    while (!isClosing()) {
      boolean consumed = consume();
      pauseMillis = consumed ? PAUSE_MIN_MILLIS : Math.min(pauseMillis * 2, PAUSE_MAX_MILLIS);
      isClosedWithin(pauseMillis);
    }
  }

  /** Consumes until the connection or a channel is lost; returns whether there was one. */
  private boolean consume() {
    Connection connection = null;
    try {
      connection = connections.open(handlers).connection();
      CountDownLatch lost = new CountDownLatch(1);
      connection.addShutdownListener(signal -> lost.countDown());
      subscribe(connection, lost);
      hasConsumed = true;
      log.info("{}", line("inbox_consuming"));
      lost.await();
      log.warn("{}", line("inbox_lost"));
      return true;
    } catch (InterruptedException e) {
      return true;
    } catch (Exception e) {
      log.warn("{}", line("inbox_not_consuming").put("why", Replies.text(e)));
      return false;
    } finally {
      channels.clear();
      if (connection != null) {
        connection.abort(ABORT_MILLIS);
      }
    }
  }

  private void subscribe(Connection connection, CountDownLatch lost) throws IOException {
    for (int i = 0; i < config.channels(); i++) {
      Channel channel = connection.createChannel();
      if (channel == null) {
        throw new IOException("the broker allows no more channels on this connection");
      }
      channel.queueDeclarePassive(config.queue() + ".dlq");
      channel.basicQos(config.prefetch());
      channel.addShutdownListener(signal -> lost.countDown());
      PastFailures.OfChannel ofChannel = new PastFailures.OfChannel(!hasConsumed);
      channel.basicConsume(
          config.queue(),
          false,
          (tag, delivery) -> handling.handle(channel, ofChannel, delivery),
          tag -> lost.countDown()); // the queue was deleted
      channels.add(channel);
    }
  }

  private boolean isClosing() {
    return closing.getCount() == 0;
  }

  private void isClosedWithin(long millis) {
    try {
      boolean unused = closing.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Takes no more, waits for the handlers that run, and closes; what was not handled goes back to
   * the queue.
   */
  @Override
  public void close() {
    if (isClosing()) {
      return;
    }
    closing.countDown();
    handling.awaitIdle();
    thread.interrupt(); // it closes the connection
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    handlers.shutdownNow();
    connections.close();
  }

  private LogLine line(String event) {
    return LogLine.of(event).put("consumer", config.consumer()).put("queue", config.queue());
  }
}
