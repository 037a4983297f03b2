package dev.postrider.webhook;

import java.net.Proxy;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.CancellationException;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.impl.DefaultSchemePortResolver;
import org.apache.hc.client5.http.impl.io.DefaultHttpClientConnectionOperator;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.protocol.HttpContext;

/** Connects to the addresses that the resolver has checked, and to nothing else. Thread-safe. */
final class CheckedConnector extends DefaultHttpClientConnectionOperator {
  /** The context's attribute that holds the request for which a connection is made. */
  static final String REQUEST = "postrider.request";

  CheckedConnector(CheckedResolver resolver, TlsSocketStrategy tls) {
    super(
        // A bare socket would obey the JVM's socksProxyHost, and reach what nobody has checked.
        proxy -> new Socket(Proxy.NO_PROXY),
        DefaultSchemePortResolver.INSTANCE,
        resolver,
        Map.of("https", tls)::get);
  }

  /**
   * A request that was cancelled during the look-up has lost its hold on the connection: one made
   * now would be closed by nobody.
   */
  @Override
  protected void onBeforeSocketConnect(HttpContext context, HttpHost host) {
    if (context.getAttribute(REQUEST) instanceof HttpPost request && request.isCancelled()) {
      throw new CancellationException("the deadline passed during the look-up of " + host);
    }
  }
}
