package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Masks;
import dev.postrider.cli.settings.Section;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.message.PostriderException;
import dev.postrider.webhook.WebhookConfig;
import dev.postrider.webhook.WebhookDestination;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** {@code webhook}: one signed request per message. */
final class WebhookType implements DestinationType {
  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofMinutes(10);

  /** An endpoint that nothing is wrong with, to try one other setting on. */
  private static final String ANYWHERE = "https://example.com";

  @Override
  public String name() {
    return "webhook";
  }

  @Override
  public Opener read(Section section, DestinationOptions options) {
    UnaryOperator<WebhookConfig.Builder> reach = reach(section);
    WebhookConfig.Builder config = reach.apply(WebhookConfig.to(url(section, reach)));
    sign(section, config);
    headers(section, config);
    times(section, options, config);
    config
        .envelope(Checks.envelope(section, Checks.EnvelopeName.PAYLOAD))
        .concurrency(section.number("requests", 64, 1, 1000));
    try (Section tls = section.section("tls")) {
      TlsSettings settings = TlsSettings.read(tls);
      return (dataSource, schema) -> open(settings, config);
    }
  }

  private static WebhookDestination open(TlsSettings tls, WebhookConfig.Builder config) {
    if (!tls.equals(TlsSettings.PLAIN)) {
      config.sslContext(tls.context());
    }
    return new WebhookDestination(config.build());
  }

  /** The path of such a URL is often a secret. */
  private static String url(Section section, UnaryOperator<WebhookConfig.Builder> reach) {
    @Nullable String url =
        section.masked(
            "url", text -> Masks.url(text).replaceFirst("(://[^/?#]*).+", "$1/" + Masks.HIDDEN));
    if (url == null) {
      section.problem("url", "missing; it is mandatory, such as https://api.example.com/hooks");
      return ANYWHERE;
    }
    return check(section, "url", reach.apply(WebhookConfig.to(url)).unsigned()) ? url : ANYWHERE;
  }

  private static UnaryOperator<WebhookConfig.Builder> reach(Section section) {
    List<String> hosts = section.texts("allow-hosts");
    List<String> nets =
        section.texts("allow-nets").stream()
            .filter(net -> check(section, "allow-nets", anywhere().unsigned().allowNet(net)))
            .toList();
    return config -> {
      hosts.forEach(config::allowHost);
      nets.forEach(config::allowNet);
      return config;
    };
  }

  private static void sign(Section section, WebhookConfig.Builder config) {
    List<String> keys = section.secrets("keys");
    boolean unsigned = section.flag("unsigned", false);
    if (unsigned && !keys.isEmpty()) {
      section.problem("keys", "expected either keys or unsigned: true, got both");
    } else if (!unsigned && keys.isEmpty() && !section.has("keys-file")) {
      section.problem(
          "keys",
          "missing; expected keys, each whsec_… or whsk_…, or unsigned: true. A new key:"
              + " ./postrider webhook-key");
    }
    if (keys.size() > 10) {
      section.problem("keys", "expected at most 10, got " + keys.size());
    }
    for (int i = 0; i < keys.size(); i++) {
      config.key(keys.get(i));
      check(section, "keys[" + i + "]", anywhere().key(keys.get(i)));
    }
    if (unsigned) {
      config.unsigned();
    }
  }

  private static void headers(Section section, WebhookConfig.Builder config) {
    Map<String, String> headers = section.properties("headers", '-');
    headers.forEach(
        (name, value) -> {
          config.header(name, value);
          check(section.section("headers"), name, anywhere().unsigned().header(name, value));
        });
    Set<String> sent = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    sent.addAll(section.texts("send-headers"));
    if (!sent.isEmpty()) {
      config.headerFilter(sent.contains("*") ? name -> true : sent::contains);
    }
  }

  private static void times(
      Section section, DestinationOptions options, WebhookConfig.Builder config) {
    Duration deadline = time(section, "deadline", 20);
    Duration connect = time(section, "connect-timeout", 5);
    Checks.shorterThanTimeout(section, "deadline", deadline, options);
    if (connect.compareTo(deadline) > 0) {
      section.problem("connect-timeout", "expected at most the deadline");
    }
    config
        .deadline(deadline)
        .connectTimeout(connect)
        .responseTimeout(time(section, "response-timeout", 15))
        .retryAfterMax(
            section.duration(
                "retry-after-max", Duration.ofHours(1), Duration.ZERO, Duration.ofHours(24)));
  }

  private static Duration time(Section section, String key, int usualSeconds) {
    return section.duration(key, Duration.ofSeconds(usualSeconds), SHORTEST, LONGEST);
  }

  private static WebhookConfig.Builder anywhere() {
    return WebhookConfig.to(ANYWHERE);
  }

  /** Whether it can be built; if not, why is noted at the key. */
  private static boolean check(Section section, String key, WebhookConfig.Builder config) {
    try {
      config.build();
      return true;
    } catch (PostriderException e) {
      String text = String.valueOf(e.getMessage()).replaceFirst("^webhook: (key 1: )?", "");
      section.problem(key, text);
      return false;
    }
  }
}
