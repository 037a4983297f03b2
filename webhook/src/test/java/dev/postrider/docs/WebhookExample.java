package dev.postrider.docs;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.envelope.Envelope;
import dev.postrider.relay.Relay;
import dev.postrider.webhook.WebhookConfig;
import dev.postrider.webhook.WebhookDestination;
import java.time.Duration;
import java.util.Set;
import javax.sql.DataSource;

/** What docs/destinations/webhook.md shows; a test runs it and compares it with the page. */
final class WebhookExample {
  private WebhookExample() {}

  static WebhookConfig customer(String currentKey, String formerKey, String token) {
    // snippet
    WebhookConfig config =
        WebhookConfig.to("https://api.example.com/hooks")
            .key(currentKey) // whsec_… or whsk_…
            .key(formerKey) // signs as well, until the receiver has changed its key
            .envelope(Envelope.standard())
            .header("authorization", "Bearer " + token)
            .headerFilter(Set.of("traceparent", "x-event-type")::contains)
            .concurrency(16)
            .deadline(Duration.ofSeconds(10))
            .onGone(endpoint -> System.err.println(endpoint + " wants no more messages"))
            .build();
    // end
    return config;
  }

  static Relay carry(DataSource dataSource, String url, String key) {
    // snippet
    WebhookDestination inside =
        new WebhookDestination(
            WebhookConfig.to(url) // http://127.0.0.1:8080/hooks
                .key(key)
                .allowNet("127.0.0.0/8")
                .build());
    Relay relay =
        Relay.builder(dataSource)
            .destination("inside", inside, DestinationOptions.DEFAULT)
            .route("shop", "orders", "inside")
            .build()
            .start();
    // end
    return relay;
  }
}
