package dev.postrider.webhook;

import dev.postrider.destination.Destination;
import dev.postrider.testkit.Arrival;
import dev.postrider.testkit.OutageContract;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

@Tag("OP-6")
class WebhookContractTest extends OutageContract {
  private static final Duration SLOWEST = Duration.ofSeconds(40);

  private final Receiver receiver = new Receiver("127.0.0.1", Certificate.valid().server());

  private final List<Arrival> arrivals = new ArrayList<>();

  @AfterEach
  void stop() {
    receiver.close();
  }

  @Override
  protected Destination open() {
    return Hooks.open(
        Hooks.toHost(receiver)
            .headerFilter(name -> true)
            .connectTimeout(SLOWEST)
            .deadline(SLOWEST));
  }

  /** A busy machine may need long for many TLS handshakes at once. */
  @Override
  protected Duration timeout() {
    return Duration.ofMinutes(1);
  }

  @Override
  protected List<Arrival> arrived() {
    // Each is read once: the contract asks again for every single message.
    List<Receiver.Request> requests = receiver.requests();
    for (Receiver.Request request : requests.subList(arrivals.size(), requests.size())) {
      arrivals.add(arrival(request));
    }
    return arrivals;
  }

  private static Arrival arrival(Receiver.Request request) {
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    request.headers().forEach((name, value) -> headers.put(name, decode(value)));
    return new Arrival(UUID.fromString(request.header("webhook-id")), request.body(), headers);
  }

  private static String decode(String value) {
    return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  @Override
  protected void breakOff() {
    receiver.stop();
  }

  @Override
  protected void repair() {
    receiver.start();
  }
}
