package dev.postrider.webhook;

import dev.postrider.message.PostriderException;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds everything that is wrong with a configuration. Thread-safe. */
final class WebhookChecks {
  private WebhookChecks() {}

  /** What the checks have read from the text of the configuration. */
  record Checked(WebhookUrl endpoint, List<SigningKey> keys, AddressGuard guard) {}

  static Checked check(WebhookConfig.Builder builder) {
    List<String> wrong = new ArrayList<>();
    WebhookUrl endpoint = WebhookUrl.parse(builder.url, wrong);
    List<SigningKey> keys = keys(builder, wrong);
    List<Cidr> nets = nets(builder, wrong);
    AddressGuard guard = new AddressGuard(builder.allowedHosts, nets, builder.ownAddresses);
    if (endpoint != null) {
      checkReach(endpoint, builder, guard, wrong);
    }
    checkHeaders(builder, wrong);
    checkLimits(builder, wrong);
    if (endpoint == null || !wrong.isEmpty()) {
      throw new PostriderException("webhook: " + String.join("; ", wrong));
    }
    return new Checked(endpoint, keys, guard);
  }

  private static List<SigningKey> keys(WebhookConfig.Builder builder, List<String> wrong) {
    List<SigningKey> keys = new ArrayList<>();
    for (int i = 0; i < builder.keys.size(); i++) {
      try {
        keys.add(SigningKey.parse(builder.keys.get(i)));
      } catch (PostriderException e) {
        wrong.add("key " + (i + 1) + ": " + e.getMessage());
      }
    }
    boolean none = builder.keys.isEmpty();
    check(wrong, none == builder.unsigned, "either a key or unsigned()", none ? "neither" : "both");
    check(wrong, builder.keys.size() <= 10, "at most 10 keys", builder.keys.size());
    return List.copyOf(keys);
  }

  private static List<Cidr> nets(WebhookConfig.Builder builder, List<String> wrong) {
    List<Cidr> nets = new ArrayList<>();
    for (String text : builder.allowedNets) {
      Cidr net = Cidr.parse(text);
      if (net == null) {
        wrong.add("expected an address or a range such as 10.1.0.0/16 to allow, got " + text);
      } else {
        nets.add(net);
      }
    }
    return nets;
  }

  /** What the URL alone gives away; names are checked whenever they are resolved. */
  private static void checkReach(
      WebhookUrl endpoint, WebhookConfig.Builder builder, AddressGuard guard, List<String> wrong) {
    boolean allows = !builder.allowedHosts.isEmpty() || !builder.allowedNets.isEmpty();
    check(
        wrong,
        !endpoint.plain() || allows,
        "https, or a host or net that is allowed explicitly",
        "http");
    byte[] literal = Cidr.literal(endpoint.host());
    if (literal != null && (!endpoint.plain() || allows)) {
      String refusal = refusal(endpoint, literal, guard);
      check(wrong, refusal == null, "an address that may be reached", "one that is " + refusal);
    }
  }

  private static @Nullable String refusal(WebhookUrl endpoint, byte[] literal, AddressGuard guard) {
    try {
      InetAddress address = InetAddress.getByAddress(literal);
      return guard.refusal(endpoint.host(), address, endpoint.plain());
    } catch (IOException e) {
      return "unknown to be this host's own or not";
    }
  }

  private static void checkHeaders(WebhookConfig.Builder builder, List<String> wrong) {
    builder.headers.forEach(
        (name, value) -> {
          check(wrong, HeaderRules.fromOperator(name), "a header that may be set", name);
          check(
              wrong,
              HeaderRules.isPlain(value),
              "printable ASCII as the value of header " + name,
              "something else");
        });
  }

  private static void checkLimits(WebhookConfig.Builder builder, List<String> wrong) {
    int concurrency = builder.concurrency;
    check(wrong, concurrency >= 1 && concurrency <= 1000, "concurrency 1..1000", concurrency);
    checkTime(wrong, "connectTimeout", builder.connectTimeout);
    checkTime(wrong, "responseTimeout", builder.responseTimeout);
    checkTime(wrong, "deadline", builder.deadline);
    check(
        wrong,
        builder.connectTimeout.compareTo(builder.deadline) <= 0,
        "connectTimeout of at most the deadline",
        builder.connectTimeout);
    Duration retry = builder.retryAfterMax;
    check(
        wrong,
        !retry.isNegative() && retry.compareTo(Duration.ofHours(24)) <= 0,
        "retryAfterMax 0..24 h",
        retry);
  }

  private static void checkTime(List<String> wrong, String name, Duration value) {
    boolean ok =
        value.compareTo(Duration.ofMillis(1)) >= 0 && value.compareTo(Duration.ofMinutes(10)) <= 0;
    check(wrong, ok, name + " 1 ms..10 min", value);
  }

  private static void check(List<String> wrong, boolean ok, String expected, Object given) {
    if (!ok) {
      wrong.add("expected " + expected + ", got " + given);
    }
  }
}
