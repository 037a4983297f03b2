package dev.postrider.rabbitmq;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections on one network thread of its own. On Netty, because a blocking socket that the
 * other side does not read holds its writer for ever. Without the client's recovery: it would bring
 * back channels behind our back, and nobody could say what became of the messages that were not
 * confirmed. Thread-safe.
 */
final class NettyConnections implements AutoCloseable {
  /** So far above what is ever queued that no frame waits inside the client, under its locks. */
  private static final int NEVER_FULL = 1 << 30;

  private static final Duration RPC_TIMEOUT = Duration.ofSeconds(10);

  private final Broker broker;
  private final EventLoopGroup loop;

  /** The group has its new name only in Netty 4.2, and many applications still have 4.1. */
  @SuppressWarnings("deprecation")
  NettyConnections(Broker broker) {
    this.broker = broker;
    this.loop = new NioEventLoopGroup(1, new DefaultThreadFactory("postrider-rabbitmq-io", true));
  }

  /** What is open, and the socket under it. Thread-safe. */
  record Open(Connection connection, Channel socket) {
    /** Bytes that the client has written and the socket has not taken. */
    long queuedBytes() {
      return socket.isOpen() ? NEVER_FULL - socket.bytesBeforeUnwritable() : 0;
    }

    /** On the thread that also reads from the socket, and writes without a detour. */
    void onNetworkThread(Runnable task) {
      socket.eventLoop().execute(task);
    }
  }

  /** Connects to the first address that answers. */
  Open open(@Nullable ExecutorService consumers) throws IOException, TimeoutException {
    Channel[] socket = new Channel[1];
    ConnectionFactory factory = factory();
    factory
        .netty()
        .eventLoopGroup(loop)
        .bootstrapCustomizer(
            bootstrap ->
                bootstrap
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis(broker.connectTimeout()))
                    .option(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(NEVER_FULL, NEVER_FULL)))
        .channelCustomizer(
            channel -> {
              verifyHost(channel);
              socket[0] = channel;
            });
    SSLContext tls = broker.tls();
    if (tls != null) {
      factory.netty().sslContext(sslContext(tls));
    }
    List<Address> addresses = List.of(Address.parseAddresses(String.join(",", broker.addresses())));
    Connection connection = factory.newConnection(consumers, addresses, broker.connectionName());
    return new Open(connection, socket[0]);
  }

  private ConnectionFactory factory() {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setVirtualHost(broker.virtualHost());
    factory.setUsername(broker.user());
    factory.setPassword(broker.password());
    factory.setRequestedHeartbeat((int) broker.heartbeat().toSeconds());
    factory.setConnectionTimeout(millis(broker.connectTimeout()));
    factory.setHandshakeTimeout(millis(broker.connectTimeout()));
    factory.setChannelRpcTimeout(millis(RPC_TIMEOUT));
    factory.setShutdownTimeout(millis(RPC_TIMEOUT));
    factory.setAutomaticRecoveryEnabled(false);
    factory.setTopologyRecoveryEnabled(false);
    factory.setExceptionHandler(new Faults());
    factory.setThreadFactory(new DefaultThreadFactory("postrider-rabbitmq", true));
    return factory;
  }

  private static JdkSslContext sslContext(SSLContext tls) {
    return new JdkSslContext(
        tls,
        true,
        null,
        IdentityCipherSuiteFilter.INSTANCE,
        ApplicationProtocolConfig.DISABLED,
        ClientAuth.NONE,
        null,
        false);
  }

  /** Netty 4.1 does not do it unless told. */
  private static void verifyHost(Channel channel) {
    SslHandler ssl = channel.pipeline().get(SslHandler.class);
    if (ssl != null) {
      SSLEngine engine = ssl.engine();
      SSLParameters parameters = engine.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      engine.setSSLParameters(parameters);
    }
  }

  private static int millis(Duration duration) {
    return (int) duration.toMillis();
  }

  @Override
  public void close() {
    Future<?> unused = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
