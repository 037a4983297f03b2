package dev.postrider.server.console;

import dev.postrider.internal.monitor.Delivery;
import dev.postrider.message.AttemptState;
import dev.postrider.message.Route;
import dev.postrider.server.operate.Status;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the console is told, as one event.
 *
 * @param status what waits now, as {@code /v1/status} has it
 * @param warnings about the database, looked for once a minute
 * @param points for the charts, the oldest first; each holds the time in milliseconds, enqueued,
 *     delivered, retried and dead messages per second, pending messages, the age of the oldest in
 *     seconds, and the median and 99th percentile of the delivery latency in milliseconds, null if
 *     nothing was delivered
 * @param outcomes what became of messages since the last event, at most 100
 * @param more how many others there were
 */
record LiveEvent(
    Instant at,
    @Nullable Status status,
    @Nullable List<Warning> warnings,
    @Nullable List<List<@Nullable Double>> points,
    @Nullable List<Outcome> outcomes,
    @Nullable Integer more) {

  /**
   * What an attempt came to.
   *
   * @param relay by which; null if it is not known
   * @param subscription null for the default one
   */
  record Outcome(
      Instant at,
      AttemptState state,
      UUID id,
      String namespace,
      String topic,
      @Nullable String key,
      @Nullable Long sequence,
      @Nullable String eventType,
      int delivery,
      int attempt,
      @Nullable Integer latencyMs,
      @Nullable String code,
      @Nullable String relay,
      @Nullable String subscription) {
    static Outcome of(Delivery delivery) {
      Route route = delivery.message().route();
      return new Outcome(
          delivery.attempt().finishedAt(),
          delivery.attempt().state(),
          delivery.message().id(),
          route.namespace(),
          route.topic(),
          delivery.message().key(),
          delivery.message().sequence(),
          delivery.message().eventType(),
          delivery.attempt().delivery(),
          delivery.attempt().no(),
          delivery.attempt().latencyMs(),
          delivery.attempt().code(),
          delivery.relay(),
          delivery.subscription().isEmpty() ? null : delivery.subscription());
    }
  }

  static LiveEvent sample(
      Instant at,
      Status status,
      List<Warning> warnings,
      @Nullable List<List<@Nullable Double>> points) {
    return new LiveEvent(at, status, warnings, points, null, null);
  }

  LiveEvent with(List<List<@Nullable Double>> points) {
    return new LiveEvent(at, status, warnings, points, outcomes, more);
  }

  static LiveEvent outcomes(Instant at, List<Outcome> outcomes, int more) {
    return new LiveEvent(at, null, null, null, outcomes, more);
  }

  List<Outcome> outcomesOrNone() {
    return outcomes == null ? List.of() : outcomes;
  }

  int moreOrNone() {
    return more == null ? 0 : more;
  }
}
