package dev.postrider.relay;

import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.internal.settle.SettlementRules;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.Route;
import org.jspecify.annotations.Nullable;

/**
 * Which messages go where: a subscription of a topic, or the default subscription of all topics of
 * a namespace.
 *
 * @param namespace a name, or {@code *} for every namespace that no other binding serves
 * @param topic a name, or {@code *} for every topic that no other binding names
 * @param subscription empty for the default subscription
 */
record RouteBinding(
    String namespace,
    String topic,
    String subscription,
    Dispatcher dispatcher,
    RetryPolicy policy,
    MessageCheck messageCheck) {
  static final String ANY = "*";

  /** Why a message is not to be sent at all, null if it may. */
  @Nullable Outcome refuse(Claimed claimed) {
    if (SettlementRules.exhausted(claimed, policy)) {
      return Outcome.terminal(
          "leases_lost",
          "%d leases were lost, in the last %d of them no other message of its destination was in flight"
              .formatted(claimed.lostLeases(), policy.maxAttempts()));
    }
    try {
      return messageCheck.refuse(claimed.message());
    } catch (RuntimeException e) {
      return Outcome.retryable("check_threw", ErrorReport.of(e));
    }
  }

  boolean serves(Route route) {
    return subscription.equals(route.subscription()) && servesTopic(route);
  }

  /** Whether it serves a subscription of the topic. */
  boolean servesTopic(Route route) {
    return (namespace.equals(ANY) || namespace.equals(route.namespace()))
        && (topic.equals(ANY) || topic.equals(route.topic()));
  }

  @Override
  public String toString() {
    String name = namespace + "/" + topic + (subscription.isEmpty() ? "" : "#" + subscription);
    return name + " -> " + dispatcher.name();
  }

  /**
   * How much it leaves open: the binding that leaves least wins, and the namespace counts first.
   */
  int openness() {
    return (namespace.equals(ANY) ? 2 : 0) + (topic.equals(ANY) ? 1 : 0);
  }
}
