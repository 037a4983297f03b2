package dev.postrider.spring;

import dev.postrider.destination.Destination;
import dev.postrider.spring.DestinationProperties.EnvelopeName;
import dev.postrider.webhook.WebhookConfig;
import dev.postrider.webhook.WebhookDestination;
import java.util.Set;
import java.util.TreeSet;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Loaded only if the module for webhooks is there. */
final class WebhookOpener {
  private WebhookOpener() {}

  static Destination open(String key, DestinationProperties settings, @Nullable SSLContext tls) {
    WebhookConfig.Builder config =
        WebhookConfig.to(
                Destinations.given(key + ".url", settings.url(), "https://api.example.com/hooks"))
            .envelope(Destinations.envelope(key, settings, EnvelopeName.PAYLOAD))
            .concurrency(settings.requests())
            .deadline(settings.deadline())
            .connectTimeout(settings.connectTimeout())
            .responseTimeout(settings.responseTimeout())
            .retryAfterMax(settings.retryAfterMax());
    settings.keys().forEach(config::key);
    if (settings.unsigned()) {
      config.unsigned();
    }
    settings.allowHosts().forEach(config::allowHost);
    settings.allowNets().forEach(config::allowNet);
    settings.headers().forEach(config::header);
    Set<String> sent = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    sent.addAll(settings.sendHeaders());
    if (!sent.isEmpty()) {
      config.headerFilter(sent.contains("*") ? name -> true : sent::contains);
    }
    if (tls != null) {
      config.sslContext(tls);
    }
    return new WebhookDestination(config.build());
  }
}
