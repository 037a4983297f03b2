package dev.postrider.webhook;

import dev.postrider.destination.Destination;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
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
  private final ResponseRules responseRules;
  private final ErrorText text;
  private final ConnectionErrors connectionErrors;
  private final RequestThreads threads;
  private final Semaphore free;
  private final Set<PendingRequest> underWay = ConcurrentHashMap.newKeySet();
  private volatile boolean gone;
  private volatile boolean closed;

  public WebhookDestination(WebhookConfig config) {
    this.config = config;
    this.writer = new RequestWriter(config);
    this.transport = new Transport(config);
    this.responseRules = new ResponseRules(config);
    this.text = new ErrorText(config.secrets);
    this.connectionErrors = new ConnectionErrors(text);
    this.threads = new RequestThreads(config.endpoint.host(), config.concurrency);
    this.free = new Semaphore(config.concurrency);
    threads.repeat(transport::closeExpired);
  }

  @Override
  public void deliver(List<Message> batch, Answers answers) {
    for (Message message : batch) {
      PendingRequest pendingRequest =
          new PendingRequest(outcome -> answers.answer(message.id(), outcome));
      if (closed) {
        pendingRequest.answer(closedOutcome());
      } else if (gone) {
        pendingRequest.answer(goneOutcome());
      } else if (!free.tryAcquire()) {
        pendingRequest.answer(
            Outcome.unavailable(
                "endpoint_busy", "all " + config.concurrency + " requests hang on the endpoint"));
      } else {
        start(message, pendingRequest);
      }
    }
  }

  /** A worker that is stuck keeps its place, so that no message waits unsent behind it. */
  private void start(Message message, PendingRequest pendingRequest) {
    underWay.add(pendingRequest);
    try {
      ScheduledFuture<?> deadline =
          threads
              .timer()
              .schedule(
                  () -> pendingRequest.end(tooLate()),
                  config.deadline.toMillis(),
                  TimeUnit.MILLISECONDS);
      threads.execute(() -> work(message, pendingRequest, deadline));
    } catch (RejectedExecutionException e) {
      underWay.remove(pendingRequest);
      free.release();
      pendingRequest.answer(closedOutcome());
    }
  }

  private void work(Message message, PendingRequest pendingRequest, ScheduledFuture<?> deadline) {
    Outcome outcome;
    try {
      outcome = send(message, pendingRequest);
    } catch (Throwable e) {
      outcome = closed ? closedOutcome() : connectionErrors.of(e);
    }
    deadline.cancel(false);
    underWay.remove(pendingRequest);
    free.release();
    pendingRequest.answer(outcome);
  }

  private Outcome send(Message message, PendingRequest pendingRequest) throws Exception {
    RequestExchange exchange =
        new RequestExchange(transport, () -> writer.write(message), threads.timer());
    if (!pendingRequest.begin(exchange)) {
      return tooLate();
    }
    return exchange.run(
        (response, body) -> {
          Outcome outcome = responseRules.of(response, text.of(body));
          pendingRequest.decide(outcome);
          noteGone(response);
          return outcome;
        });
  }

  private void noteGone(HttpResponse response) {
    if (response.getCode() != ResponseRules.GONE || !disable()) {
      return;
    }
    log.warn("{}", LogLine.of("outbox_webhook_gone").put("endpoint", config.endpoint));
    try {
      config.onGone.accept(config.endpoint.toString());
    } catch (RuntimeException e) {
      log.warn("{}", LogLine.of("outbox_webhook_listener_failed"), Silenced.of(e));
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
    return ResponseRules.gone("the endpoint answered 410 Gone before, and was not enabled since");
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
    threads.close();
    underWay.forEach(pendingRequest -> pendingRequest.end(closedOutcome()));
    transport.close();
  }

  @Override
  public String toString() {
    return config.toString();
  }
}
