package dev.postrider.examples.payments;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.RetryPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.relay.RouteOptions;
import dev.postrider.webhook.WebhookConfig;
import dev.postrider.webhook.WebhookDestination;
import javax.sql.DataSource;

/** Both rails on one relay. */
final class PaymentRelay {
  private PaymentRelay() {}

  static Relay relay(
      DataSource dataSource,
      RelayConfig config,
      RetryPolicy retry,
      Destination sepa,
      Destination wallet) {
    Relay.Builder relay = Relay.builder(dataSource).config(config);
    addRail(relay, Rail.SEPA, sepa, retry);
    addRail(relay, Rail.WALLET, wallet, retry);
    return relay.build();
  }

  /** A call has 30 s, which is the default; a rail that is slow or away holds up no other. */
  private static void addRail(
      Relay.Builder relay, Rail rail, Destination destination, RetryPolicy retry) {
    relay
        .destination(
            rail.topic(), destination, DestinationOptions.DEFAULT.withConcurrency(rail.cap()))
        .route(
            PaymentDesk.NAMESPACE,
            rail.topic(),
            rail.topic(),
            RouteOptions.DEFAULT
                .withRetry(retry.withOnDead(rail.onDead()))
                .withCheck(new PaymentCheck(rail)));
  }

  static Destination sepa(SimulatedBank bank) {
    return HandlerDestination.of(Rail.SEPA.cap(), bank);
  }

  static Destination wallet(String url, String key) {
    return new WebhookDestination(
        WebhookConfig.to(url)
            .key(key)
            .allowNet("127.0.0.0/8") // the provider of this example; without it: public https only
            .concurrency(Rail.WALLET.cap())
            .build());
  }
}
