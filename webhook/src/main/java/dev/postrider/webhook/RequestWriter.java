package dev.postrider.webhook;

import dev.postrider.envelope.Sealed;
import dev.postrider.internal.envelope.EventHeaders;
import dev.postrider.message.Message;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;

/**
 * Writes the request for one try of a message: the id stays the same over all tries, time and
 * signatures are new for each. Thread-safe.
 */
final class RequestWriter {
  private final WebhookConfig config;

  RequestWriter(WebhookConfig config) {
    this.config = config;
  }

  HttpPost write(Message message) {
    HttpPost request = new HttpPost(config.endpoint.uri());
    Sealed sealed = config.envelope.seal(message);
    headers(message, sealed).forEach(request::setHeader);
    request.setHeader("host", config.endpoint.uri().getRawAuthority());
    // Not as the entity's content type, whose parser refuses what a producer may call it.
    request.setEntity(new ByteArrayEntity(sealed.body(), null));
    sign(request, message.id().toString(), sealed.body());
    return request;
  }

  /** By names in lower case, so that a later one replaces an earlier one of any case. */
  private Map<String, String> headers(Message message, Sealed sealed) {
    Map<String, String> headers = new TreeMap<>();
    EventHeaders.of(message)
        .forEach(
            (name, value) -> {
              if (HeaderRules.fromMessage(name) && config.headerFilter.test(name)) {
                headers.put(name.toLowerCase(Locale.ROOT), HeaderRules.encode(value));
              }
            });
    sealed
        .attributes()
        .forEach((name, value) -> headers.put("ce-" + name, HeaderRules.encodeCloudEvent(value)));
    headers.put("content-type", HeaderRules.encode(sealed.contentType()));
    config.headers.forEach((name, value) -> headers.put(name.toLowerCase(Locale.ROOT), value));
    return headers;
  }

  private void sign(HttpPost request, String id, byte[] body) {
    String time = Long.toString(config.clock.instant().getEpochSecond());
    request.setHeader("webhook-id", id);
    request.setHeader("webhook-timestamp", time);
    if (!config.keys.isEmpty()) {
      byte[] head = (id + "." + time + ".").getBytes(StandardCharsets.US_ASCII);
      request.setHeader(
          "webhook-signature",
          config.keys.stream().map(key -> key.sign(head, body)).collect(Collectors.joining(" ")));
    }
  }
}
