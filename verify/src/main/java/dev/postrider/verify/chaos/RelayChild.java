package dev.postrider.verify.chaos;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.DestinationOptions.BreakerOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.envelope.Envelope;
import dev.postrider.kafka.KafkaConfig;
import dev.postrider.kafka.KafkaDestination;
import dev.postrider.message.Backoff;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.Settlement;
import dev.postrider.observe.RelayListener;
import dev.postrider.rabbitmq.Broker;
import dev.postrider.rabbitmq.RabbitConfig;
import dev.postrider.rabbitmq.RabbitDestination;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.relay.RouteOptions;
import dev.postrider.retention.RetentionConfig;
import dev.postrider.retention.RetentionTask;
import dev.postrider.verify.journal.Clock;
import dev.postrider.verify.journal.Entry;
import dev.postrider.verify.journal.Journal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A relay in its own process. It ends in order after SIGTERM. Arguments: directory, name. */
final class RelayChild {
  static final Duration LEASE = Duration.ofSeconds(2);
  static final Duration RETENTION = Duration.ofSeconds(20);

  /** Longer than half a lease, so that it is renewed. */
  private static final long SLOW_NANOS = LEASE.toNanos() * 3 / 4;

  private static final DestinationOptions OPTIONS =
      DestinationOptions.DEFAULT
          .withMaxInFlight(400)
          .withTimeout(Duration.ofSeconds(15))
          .withBreaker(new BreakerOptions(20, Duration.ofMillis(100), Duration.ofSeconds(1)));
  private static final RouteOptions HOW =
      RouteOptions.DEFAULT.withRetry(
          RetryPolicy.DEFAULT
              .withBackoff(new Backoff(Duration.ofMillis(500), Duration.ofSeconds(3), 0.2))
              .withMaxAttempts(30_000));

  private final Scene scene;
  private final String name;
  private final Journal journal;

  private final @Nullable Failpoint failpoint;

  private RelayChild(Scene scene, String name, Journal journal) {
    this.scene = scene;
    this.name = name;
    this.journal = journal;
    this.failpoint = Failpoint.ofProcess(journal, name);
  }

  public static void main(String[] arguments) {
    Path directory = Path.of(arguments[0]);
    String name = arguments[1];
    RelayChild child = new RelayChild(Scene.read(directory), name, Journal.open(directory, name));
    Relay relay = child.relay();
    Runtime.getRuntime().addShutdownHook(new Thread(relay::close));
    relay.start();
  }

  private Relay relay() {
    return Relay.builder(dataSource())
        .direct(scene.dataSource(name)) // LISTEN needs the driver's own connection
        .config(
            RelayConfig.defaults()
                .withName(name)
                .withBatchSize(200)
                .withPollInterval(Duration.ofMillis(200))
                .withLease(LEASE)
                .withReapInterval(Duration.ofMillis(250))
                .withShutdownTimeout(Duration.ofSeconds(10)))
        .retention(
            RetentionConfig.off()
                .withInterval(Duration.ofSeconds(2))
                .withPeriod(RetentionTask.MESSAGES, RETENTION))
        .listener(new Verdicts())
        .destination(Scene.HANDLED, recorded(Scene.HANDLED, handler(Scene.HANDLED)), OPTIONS)
        .destination(
            Scene.COPY_HANDLED, recorded(Scene.COPY_HANDLED, handler(Scene.COPY_HANDLED)), OPTIONS)
        .destination(
            Scene.RABBIT, recorded(Scene.RABBIT, rabbit(Scene.EXCHANGE, "{event_type}")), OPTIONS)
        .destination(
            Scene.COPY_RABBIT,
            recorded(Scene.COPY_RABBIT, rabbit(Scene.COPY_EXCHANGE, Scene.GOOD)),
            OPTIONS)
        .destination(Scene.KAFKA, recorded(Scene.KAFKA, kafka()), OPTIONS)
        .route(Scene.NAMESPACE, Scene.HANDLED, Scene.HANDLED, HOW)
        .route(Scene.NAMESPACE, Scene.RABBIT, Scene.RABBIT, HOW)
        .route(Scene.NAMESPACE, Scene.KAFKA, Scene.KAFKA, HOW)
        .route(Scene.NAMESPACE, Scene.BOTH, Scene.HANDLED, HOW)
        .subscription(Scene.NAMESPACE, Scene.BOTH, Scene.COPY_HANDLED, Scene.COPY_HANDLED, HOW)
        .subscription(Scene.NAMESPACE, Scene.BOTH, Scene.COPY_RABBIT, Scene.COPY_RABBIT, HOW)
        .build();
  }

  private DataSource dataSource() {
    DataSource dataSource = scene.dataSource(name);
    return failpoint == null ? dataSource : WatchedDataSource.of(dataSource, failpoint);
  }

  private Destination recorded(String sink, Destination destination) {
    return new RecordingDestination(
        destination, new RecordingDestination.Place(name, sink), journal, failpoint);
  }

  private Destination handler(String sink) {
    return HandlerDestination.of(8, message -> handle(sink, message));
  }

  private Outcome handle(String sink, Message message) {
    String ref = message.text();
    if (!scene.mended() && message.key() != null && message.key().startsWith(Scene.STUCK)) {
      return Outcome.retryable("stuck", "until the end of the run");
    }
    if (!scene.mended() && ref.endsWith(Scene.POISON)) {
      journal.append(new Entry.Refusal(Clock.micros(), sink, ref));
      return Outcome.terminal("poison", "until the end of the run");
    }
    if (message.key() != null && message.key().startsWith(Scene.SLOW)) {
      LockSupport.parkNanos(SLOW_NANOS);
    }
    journal.append(
        new Entry.Arrival(
            Clock.micros(),
            sink,
            ref,
            message.id().toString(),
            message.key(),
            message.sequence(),
            message.token()));
    return Outcome.delivered();
  }

  private Destination rabbit(String exchange, String routingKey) {
    return RabbitDestination.open(
        RabbitConfig.to(Broker.uri(scene.amqpUri()).build())
            .exchange(exchange)
            .routingKey(routingKey)
            .envelope(Envelope.payload())
            .confirmTimeout(Duration.ofSeconds(10))
            .build());
  }

  private Destination kafka() {
    return KafkaDestination.open(
        KafkaConfig.builder(scene.kafka())
            .topic(Scene.KAFKA_TOPIC + "{event_type}")
            .deliveryTimeout(Duration.ofSeconds(10))
            .build());
  }

  /** Notes what the database said to settlements. */
  private final class Verdicts implements RelayListener {
    @Override
    public void settled(String destination, Settlement settlement) {
      note(destination, settlement, true);
    }

    @Override
    public void conflict(String destination, Settlement settlement) {
      note(destination, settlement, false);
    }

    private void note(String destination, Settlement settlement, boolean accepted) {
      Message message = settlement.message();
      String id = message.id().toString();
      String code = settlement.code();
      long now = Clock.micros();
      if (!accepted || settlement.decision() == Settlement.Decision.DELIVERED) {
        journal.note(
            List.of(new Entry.Verdict(now, name, destination, id, message.token(), accepted)));
      } else if (code != null) {
        journal.note(
            List.of(new Entry.Unanswered(now, name, destination, id, message.token(), code)));
      }
    }
  }
}
