package dev.postrider.rabbitmq;

import dev.postrider.message.PostriderException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Where the broker is and how to get in. Immutable; the password is in no text that it produces.
 *
 * @param addresses {@code host} or {@code host:port}, tried in this order
 * @param tls null for a connection in the clear; with it the host's name is verified as well
 * @param connectionName seen by operators of the broker
 * @param heartbeat a broker that is silent for twice as long is given up
 */
public record Broker(
    List<String> addresses,
    String virtualHost,
    String user,
    String password,
    @Nullable SSLContext tls,
    String connectionName,
    Duration heartbeat,
    Duration connectTimeout) {

  public Broker {
    addresses = List.copyOf(addresses);
    Violations wrong = new Violations();
    wrong.check(!addresses.isEmpty(), "at least one address", "none");
    for (String address : addresses) {
      wrong.check(isAddress(address), "an address as host or host:port", "another form");
    }
    wrong
        .name("a virtual host", virtualHost)
        .name("a user", user)
        .name("a connection name", connectionName)
        .range("heartbeat", heartbeat, Duration.ofSeconds(1), Duration.ofMinutes(5))
        .range("connectTimeout", connectTimeout, Duration.ofMillis(10), Duration.ofMinutes(1))
        .report("RabbitMQ broker");
  }

  private static boolean isAddress(String address) {
    return address.matches("(\\[[0-9a-fA-F:.%]+]|[^\\s:@/\\[\\]]+)(:\\d{1,5})?");
  }

  /** A broker at these addresses; user and password are {@code guest} until set. */
  public static Builder at(String... addresses) {
    return new Builder(List.of(addresses));
  }

  /**
   * A broker by its URI, such as {@code amqps://user:password@host:5671/vhost}. {@code amqps} means
   * TLS with the certificates that Java trusts.
   */
  public static Builder uri(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      // Neither the text nor the cause, which repeats it: there may be a password in it.
      throw new PostriderException("RabbitMQ broker: the URI has an error at " + e.getIndex());
    }
    boolean tls = "amqps".equals(uri.getScheme());
    if (uri.getHost() == null || !(tls || "amqp".equals(uri.getScheme()))) {
      throw new PostriderException(
          "RabbitMQ broker: expected a URI as amqp[s]://user:password@host:port/vhost");
    }
    Builder builder = at(uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort()));
    if (tls) {
      builder.tls();
    }
    if (uri.getRawPath() != null && uri.getRawPath().length() > 1) {
      builder.virtualHost(decoded(uri.getRawPath().substring(1)));
    }
    String login = uri.getRawUserInfo();
    if (login != null) {
      int colon = login.indexOf(':');
      builder.credentials(
          decoded(colon < 0 ? login : login.substring(0, colon)),
          colon < 0 ? "" : decoded(login.substring(colon + 1)));
    }
    return builder;
  }

  /** Percent signs only: a plus is a plus in this part of a URI. */
  private static String decoded(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** The same with TLS. */
  public Broker withTls(SSLContext context) {
    return new Broker(
        addresses, virtualHost, user, password, context, connectionName, heartbeat, connectTimeout);
  }

  @Override
  public String toString() {
    return "Broker[%s%s, virtualHost=%s, user=%s, connectionName=%s]"
        .formatted(
            String.join(",", addresses),
            tls == null ? "" : " with TLS",
            virtualHost,
            user,
            connectionName);
  }

  /** Collects the settings of a broker. Not thread-safe. */
  public static final class Builder {
    private final List<String> addresses;
    private String virtualHost = "/";
    private String user = "guest";
    private String password = "guest";
    private @Nullable SSLContext tls;
    private String connectionName = "postrider";
    private Duration heartbeat = Duration.ofSeconds(5);
    private Duration connectTimeout = Duration.ofSeconds(5);

    private Builder(List<String> addresses) {
      this.addresses = new ArrayList<>(addresses);
    }

    public Builder virtualHost(String value) {
      virtualHost = value;
      return this;
    }

    public Builder credentials(String name, String secret) {
      user = name;
      password = secret;
      return this;
    }

    /** TLS with the certificates that Java trusts. */
    public Builder tls() {
      return tls(Trust.platform());
    }

    /** TLS with the certificates in a trust store, PKCS #12 or JKS. */
    public Builder tls(Path trustStore, String storePassword) {
      return tls(Trust.store(trustStore, storePassword));
    }

    public Builder tls(SSLContext context) {
      tls = context;
      return this;
    }

    public Builder connectionName(String value) {
      connectionName = value;
      return this;
    }

    public Builder heartbeat(Duration value) {
      heartbeat = value;
      return this;
    }

    public Builder connectTimeout(Duration value) {
      connectTimeout = value;
      return this;
    }

    /** Fails with everything that is wrong. */
    public Broker build() {
      return new Broker(
          addresses, virtualHost, user, password, tls, connectionName, heartbeat, connectTimeout);
    }
  }
}
