package dev.postrider.server;

import dev.postrider.message.PostriderException;
import io.javalin.config.JettyConfig;
import java.io.IOException;
import java.security.GeneralSecurityException;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;

/** Sets the web server up: address, TLS, threads, time limits. */
final class Jetty {
  private static final int HEADER_BYTES = 16 * 1024;
  private static final int SEND_BYTES = 256 * 1024;
  private static final int STOP_MILLIS = 5_000;

  /** They parse and hand over, and write streams; none of them waits for a caller. */
  private static final int THREADS = 16;

  private Jetty() {}

  static void configure(
      JettyConfig jetty,
      ServerConfig config,
      RequestPools requestPools,
      OpenConnections openConnections) {
    QueuedThreadPool threads = new QueuedThreadPool(THREADS, 4);
    threads.setName("postrider-jetty");
    threads.setDaemon(true);
    jetty.threadPool = threads;
    jetty.modifyHttpConfiguration(
        http -> {
          http.setSendServerVersion(false);
          http.setSendDateHeader(false);
          http.setRequestHeaderSize(HEADER_BYTES);
          // What a proxy in front may read otherwise is refused, such as lines that end with LF.
          http.setHttpCompliance(HttpCompliance.STRICT);
        });
    SslContextFactory.@Nullable Server ssl = ssl(config.tls());
    jetty.addConnector((server, http) -> connector(server, http, ssl, config, openConnections));
    jetty.modifyServer(
        server -> {
          server.insertHandler(requestPools);
          server.setStopTimeout(STOP_MILLIS);
          server.setErrorHandler(new JettyErrors());
        });
  }

  private static ServerConnector connector(
      Server server,
      HttpConfiguration http,
      SslContextFactory.@Nullable Server ssl,
      ServerConfig config,
      OpenConnections openConnections) {
    ConnectionFactory plain = new HttpConnectionFactory(http);
    ServerConnector connector =
        ssl == null
            ? new ServerConnector(server, plain)
            : new ServerConnector(
                server, new SslConnectionFactory(ssl, plain.getProtocol()), plain);
    connector.setHost(config.host());
    connector.setPort(config.port());
    connector.setIdleTimeout(0); // the lines have a clock for everything
    connector.addEventListener(openConnections);
    // What the kernel keeps for a slow caller; as large as it likes, it would hide that it is slow.
    connector.setAcceptedSendBufferSize(SEND_BYTES);
    return connector;
  }

  private static SslContextFactory.@Nullable Server ssl(@Nullable Tls tls) {
    if (tls == null) {
      return null;
    }
    try {
      SslContextFactory.Server ssl = new SslContextFactory.Server();
      ssl.setKeyStore(tls.load());
      ssl.setKeyStorePassword(tls.keyPassword());
      ssl.setIncludeProtocols("TLSv1.3", "TLSv1.2");
      return ssl;
    } catch (IOException | GeneralSecurityException e) {
      throw new PostriderException("TLS cannot be set up with " + tls + ": " + e.getMessage(), e);
    }
  }
}
