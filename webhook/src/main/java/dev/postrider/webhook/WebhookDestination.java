package dev.postrider.webhook;

import dev.postrider.destination.Destination;
import dev.postrider.internal.text.LogLine;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.hc.core5.http.HttpResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends each message as one signed POST to one endpoint, by the Standard Webhooks specification.
 * Connects to public addresses only, unless others are allowed. Thread-safe.
 */
public final class WebhookDestination implements Destination {
  private static final Logger log = LoggerFactory.getLogger(WebhookDestination.class);

  private final WebhookConfig config;
  private final RequestWriter writer;
  private final Transport transport;
  private final Verdicts verdicts;
  private final ErrorText text;
  private final Failures failures;
  private final Workers workers;
  private final Semaphore free;
  private final Set<Delivery> underWay = ConcurrentHashMap.newKeySet();
  private volatile boolean gone;
  private volatile boolean closed;

  public WebhookDestination(WebhookConfig config) {
    this.config = config;
    this.writer = new RequestWriter(config);
    this.transport = new Transport(config);
    this.verdicts = new Verdicts(config);
    this.text = new ErrorText(config.secrets);
    this.failures = new Failures(text);
    this.workers = new Workers(config.endpoint.host(), config.concurrency);
    this.free = new Semaphore(config.concurrency);
    workers.repeat(transport::closeExpired);
  }

  @Override
  public void deliver(List<Message> batch, Answers answers) {
    for (Message message : batch) {
      Delivery delivery = new Delivery(outcome -> answers.answer(message.id(), outcome));
      if (closed) {
        delivery.answer(closedOutcome());
      } else if (gone) {
        delivery.answer(goneOutcome());
      } else if (!free.tryAcquire()) {
        delivery.answer(
            Outcome.unavailable(
                "endpoint_busy", "all " + config.concurrency + " requests hang on the endpoint"));
      } else {
        start(message, delivery);
      }
    }
  }

  /** A worker that is stuck keeps its place, so that no message waits unsent behind it. */
  private void start(Message message, Delivery delivery) {
    underWay.add(delivery);
    try {
      ScheduledFuture<?> deadline =
          workers
              .timer()
              .schedule(
                  () -> delivery.end(tooLate()), config.deadline.toMillis(), TimeUnit.MILLISECONDS);
      workers.execute(() -> work(message, delivery, deadline));
    } catch (RejectedExecutionException e) {
      underWay.remove(delivery);
      free.release();
      delivery.answer(closedOutcome());
    }
  }

  private void work(Message message, Delivery delivery, ScheduledFuture<?> deadline) {
    Outcome outcome;
    try {
      outcome = send(message, delivery);
    } catch (Throwable e) {
      outcome = closed ? closedOutcome() : failures.of(e);
    }
    deadline.cancel(false);
    underWay.remove(delivery);
    free.release();
    delivery.answer(outcome);
  }

  private Outcome send(Message message, Delivery delivery) throws Exception {
    Exchange exchange = new Exchange(transport, () -> writer.write(message), workers.timer());
    if (!delivery.begin(exchange)) {
      return tooLate();
    }
    return exchange.run(
        (response, body) -> {
          Outcome outcome = verdicts.of(response, text.of(body));
          delivery.decide(outcome);
          noteGone(response);
          return outcome;
        });
  }

  private void noteGone(HttpResponse response) {
    if (response.getCode() != Verdicts.GONE || !disable()) {
      return;
    }
    log.warn("{}", LogLine.of("outbox_webhook_gone").put("endpoint", config.endpoint));
    try {
      config.onGone.accept(config.endpoint.toString());
    } catch (RuntimeException e) {
      log.warn("event=outbox_webhook_listener_failed", e);
    }
  }

  private synchronized boolean disable() {
    boolean first = !gone;
    gone = true;
    return first;
  }

  /** Whether the endpoint has answered 410 Gone, and gets nothing until {@link #enable}. */
  public boolean gone() {
    return gone;
  }

  /** Sends to the endpoint again after it was gone. */
  public synchronized void enable() {
    gone = false;
  }

  private Outcome tooLate() {
    return Outcome.retryable(
        "timeout", "no complete answer within " + config.deadline.toMillis() + " ms");
  }

  private static Outcome goneOutcome() {
    return Verdicts.gone("the endpoint answered 410 Gone before, and was not enabled since");
  }

  private static Outcome closedOutcome() {
    return Outcome.unavailable("closed", "the destination is closed");
  }

  /** One endpoint: what fails there fails as a whole. */
  @Override
  public @Nullable String target(Message message) {
    return null;
  }

  /** The engine keeps a key's order, and sends one of its messages at a time. */
  @Override
  public boolean keepsOrder() {
    return false;
  }

  @Override
  public int concurrency() {
    return config.concurrency;
  }

  @Override
  public Duration answersWithin() {
    return config.deadline;
  }

  /** Ends what is under way: the receiver may have it or not, and gets it again. */
  @Override
  public void close() {
    closed = true;
    workers.close();
    underWay.forEach(delivery -> delivery.end(closedOutcome()));
    transport.close();
  }

  @Override
  public String toString() {
    return config.toString();
  }
}
