package dev.postrider.webhook;

import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.DefaultSchemePortResolver;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.ManagedHttpClientConnectionFactory;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.routing.DefaultRoutePlanner;
import org.apache.hc.client5.http.ssl.DefaultClientTlsStrategy;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.impl.io.DefaultHttpResponseParserFactory;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.pool.PoolConcurrencyPolicy;
import org.apache.hc.core5.pool.PoolReusePolicy;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;

/**
 * The HTTP client of one endpoint: no redirects, no cookies, no proxies, no retries of its own, no
 * decompression, and connections to checked addresses only. Thread-safe.
 */
final class Transport implements AutoCloseable {
  /** A name is resolved and checked anew at least this often. */
  private static final TimeValue CONNECTION_LIFE = TimeValue.ofMinutes(5);

  private static final TimeValue IDLE_MAX = TimeValue.ofSeconds(60);

  /** An answer is short; what is longer than this is no answer that we need. */
  private static final Http1Config LIMITS =
      Http1Config.custom()
          .setMaxLineLength(8192)
          .setMaxHeaderCount(100)
          .setMaxEmptyLineCount(2)
          .build();

  private final PoolingHttpClientConnectionManager connections;
  private final CloseableHttpClient client;

  Transport(WebhookConfig config) {
    this.connections = connections(config);
    this.client =
        HttpClients.custom()
            .setConnectionManager(connections)
            .setRoutePlanner(new DefaultRoutePlanner(DefaultSchemePortResolver.INSTANCE))
            .setDefaultRequestConfig(requestConfig(config))
            .setKeepAliveStrategy((response, context) -> IDLE_MAX)
            .setUserAgent("Postrider")
            .disableRedirectHandling()
            .disableAutomaticRetries()
            .disableCookieManagement()
            .disableAuthCaching()
            .disableConnectionState()
            .disableContentCompression()
            .build();
  }

  CloseableHttpClient client() {
    return client;
  }

  /** Closes what the other side has probably closed, too. */
  void forgetIdle() {
    connections.closeIdle(TimeValue.ZERO_MILLISECONDS);
  }

  void closeExpired() {
    connections.closeExpired();
    connections.closeIdle(IDLE_MAX);
  }

  private static PoolingHttpClientConnectionManager connections(WebhookConfig config) {
    CheckedResolver resolver = new CheckedResolver(config.lookup, config.guard, config.endpoint);
    PoolingHttpClientConnectionManager connections =
        new PoolingHttpClientConnectionManager(
            new CheckedConnector(resolver, tls(config)),
            PoolConcurrencyPolicy.STRICT,
            PoolReusePolicy.LIFO,
            CONNECTION_LIFE,
            ManagedHttpClientConnectionFactory.builder()
                .http1Config(LIMITS)
                // The client's own would skip over garbage before the status line.
                .responseParserFactory(new DefaultHttpResponseParserFactory(LIMITS))
                .build());
    connections.setMaxTotal(config.concurrency);
    connections.setDefaultMaxPerRoute(config.concurrency);
    connections.setDefaultConnectionConfig(connectionConfig(config));
    connections.setDefaultTlsConfig(
        TlsConfig.custom().setHandshakeTimeout(timeout(config.connectTimeout)).build());
    return connections;
  }

  private static TlsSocketStrategy tls(WebhookConfig config) {
    SSLContext given = config.sslContext;
    TlsSocketStrategy strategy =
        given == null
            ? DefaultClientTlsStrategy.createDefault()
            : new DefaultClientTlsStrategy(given);
    // By the name as it was configured, see CheckedResolver.
    return (socket, decoded, port, attachment, context) ->
        strategy.upgrade(socket, config.endpoint.host(), port, attachment, context);
  }

  private static ConnectionConfig connectionConfig(WebhookConfig config) {
    return ConnectionConfig.custom()
        .setConnectTimeout(timeout(config.connectTimeout))
        .setSocketTimeout(timeout(config.responseTimeout))
        .setTimeToLive(CONNECTION_LIFE)
        .setValidateAfterInactivity(TimeValue.ofSeconds(1))
        .build();
  }

  private static RequestConfig requestConfig(WebhookConfig config) {
    return RequestConfig.custom()
        .setConnectionRequestTimeout(timeout(config.connectTimeout))
        .setResponseTimeout(timeout(config.responseTimeout))
        .setRedirectsEnabled(false)
        .setAuthenticationEnabled(false)
        .setExpectContinueEnabled(false)
        .setProtocolUpgradeEnabled(false)
        .build();
  }

  private static Timeout timeout(Duration duration) {
    return Timeout.ofMilliseconds(duration.toMillis());
  }

  @Override
  public void close() {
    client.close(CloseMode.IMMEDIATE);
  }
}
