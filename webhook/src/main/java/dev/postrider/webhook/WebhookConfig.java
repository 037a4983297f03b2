package dev.postrider.webhook;

import dev.postrider.envelope.Envelope;
import dev.postrider.internal.envelope.EventHeaders;
import java.net.InetAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * How messages reach one endpoint. Start with {@link #to}; everything but the keys has a default.
 * Immutable, and never shows a secret.
 */
public final class WebhookConfig {
  final WebhookUrl endpoint;
  final List<SigningKey> keys;
  final Envelope envelope;
  final Predicate<String> headerFilter;
  final Map<String, String> headers;
  final int concurrency;
  final Duration connectTimeout;
  final Duration responseTimeout;
  final Duration deadline;
  final Duration retryAfterMax;
  final AddressGuard guard;
  final @Nullable SSLContext sslContext;
  final Consumer<String> onGone;
  final Clock clock;
  final CheckedResolver.Lookup lookup;
  final Secrets secrets;

  private WebhookConfig(Builder builder, WebhookChecks.Checked checked) {
    this.endpoint = checked.endpoint();
    this.keys = checked.keys();
    this.guard = checked.guard();
    this.envelope = builder.envelope;
    this.headerFilter = builder.headerFilter;
    this.headers = Map.copyOf(builder.headers);
    this.concurrency = builder.concurrency;
    this.connectTimeout = builder.connectTimeout;
    this.responseTimeout = builder.responseTimeout;
    this.deadline = builder.deadline;
    this.retryAfterMax = builder.retryAfterMax;
    this.sslContext = builder.sslContext;
    this.onGone = builder.onGone;
    this.clock = builder.clock;
    this.lookup = builder.lookup;
    List<String> known = new ArrayList<>(builder.keys);
    known.addAll(builder.headers.values());
    this.secrets = Secrets.of(known, endpoint.uri());
  }

  /** Starts with the endpoint's URL: https, without user or password. */
  public static Builder to(String url) {
    return new Builder(url);
  }

  @Override
  public String toString() {
    return "webhook " + endpoint + ", keys " + keys + ", headers " + headers.keySet();
  }

  /** Collects the settings; not thread-safe. */
  public static final class Builder {
    final String url;
    final List<String> keys = new ArrayList<>();
    final Map<String, String> headers = new LinkedHashMap<>();
    final Set<String> allowedHosts = new LinkedHashSet<>();
    final List<String> allowedNets = new ArrayList<>();
    boolean unsigned;
    int concurrency = 64;
    Duration connectTimeout = Duration.ofSeconds(5);
    Duration responseTimeout = Duration.ofSeconds(15);
    Duration deadline = Duration.ofSeconds(20);
    Duration retryAfterMax = Duration.ofHours(1);
    AddressGuard.OwnAddresses ownAddresses = AddressGuard.INTERFACES;
    private Envelope envelope = Envelope.payload();
    private Predicate<String> headerFilter = EventHeaders::isUsual;
    private @Nullable SSLContext sslContext;
    private Consumer<String> onGone = endpoint -> {};
    private Clock clock = Clock.systemUTC();
    private CheckedResolver.Lookup lookup = InetAddress::getAllByName;

    private Builder(String url) {
      this.url = url;
    }

    /**
     * Signs every request by this key, too: {@code whsec_…} (shared secret) or {@code whsk_…}
     * (private ed25519 key). Several at a time let receivers change theirs without a gap.
     */
    public Builder key(String key) {
      keys.add(key);
      return this;
    }

    /** Sends without signatures, for receivers that know us by other means. */
    public Builder unsigned() {
      unsigned = true;
      return this;
    }

    /** What the body is; the bare payload unless told otherwise. */
    public Builder envelope(Envelope value) {
      envelope = value;
      return this;
    }

    /** A header for every request, such as {@code authorization}; its value is never shown. */
    public Builder header(String name, String value) {
      headers.put(name, value);
      return this;
    }

    /**
     * Which of a message's headers are sent, by name; unless told otherwise those that Postrider
     * adds, and the trace's.
     */
    public Builder headerFilter(Predicate<String> filter) {
      headerFilter = filter;
      return this;
    }

    /** Requests at a time; 64 unless told otherwise. */
    public Builder concurrency(int value) {
      concurrency = value;
      return this;
    }

    /** For connecting to one address, and for its TLS handshake; 5 s unless told otherwise. */
    public Builder connectTimeout(Duration value) {
      connectTimeout = value;
      return this;
    }

    /** For the longest silence while waiting for the answer; 15 s unless told otherwise. */
    public Builder responseTimeout(Duration value) {
      responseTimeout = value;
      return this;
    }

    /** For the whole request, however slowly it goes; 20 s unless told otherwise. */
    public Builder deadline(Duration value) {
      deadline = value;
      return this;
    }

    /** The longest that a receiver's Retry-After counts for; 1 h unless told otherwise. */
    public Builder retryAfterMax(Duration value) {
      retryAfterMax = value;
      return this;
    }

    /** Lets this name lead to any address, and be reached by http. */
    public Builder allowHost(String host) {
      allowedHosts.add(WebhookUrl.normal(host));
      return this;
    }

    /** Lets these addresses be reached, by http as well: {@code 10.1.0.0/16} or a single one. */
    public Builder allowNet(String cidr) {
      allowedNets.add(cidr);
      return this;
    }

    /**
     * Whose certificates are trusted, and what we show of our own; Java's unless told otherwise.
     */
    public Builder sslContext(SSLContext value) {
      sslContext = value;
      return this;
    }

    /**
     * Hears that the endpoint answered 410 Gone and gets nothing more until {@link
     * WebhookDestination#enable}. Called from a worker thread; return quickly.
     */
    public Builder onGone(Consumer<String> listener) {
      onGone = listener;
      return this;
    }

    /** Where the timestamps come from. */
    public Builder clock(Clock value) {
      clock = value;
      return this;
    }

    Builder lookup(CheckedResolver.Lookup value) {
      lookup = value;
      return this;
    }

    Builder ownAddresses(AddressGuard.OwnAddresses value) {
      ownAddresses = value;
      return this;
    }

    /** Fails with everything that is wrong, together. */
    public WebhookConfig build() {
      return new WebhookConfig(this, WebhookChecks.check(this));
    }
  }
}
