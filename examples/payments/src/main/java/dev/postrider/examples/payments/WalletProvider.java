package dev.postrider.examples.payments;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.sql.SQLException;
import java.util.Base64;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.ToIntFunction;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The provider behind the wallet rail: takes signed webhooks. Thread-safe. */
final class WalletProvider implements AutoCloseable {
  private final RailBooks books;
  private final byte[] secret;
  private final ToIntFunction<String> statuses;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(16);

  /**
   * @param key {@code whsec_…}, which the sender signs with
   * @param statuses what it answers to a payload; a booking is made only for 200
   */
  WalletProvider(RailBooks books, String key, ToIntFunction<String> statuses) throws IOException {
    this.books = books;
    this.secret = Base64.getDecoder().decode(key.substring("whsec_".length()));
    this.statuses = statuses;
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    server.setExecutor(threads);
    server.createContext("/payments", this::handle);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/payments";
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readNBytes(1 << 20);
      exchange.sendResponseHeaders(status(exchange.getRequestHeaders(), body), -1);
    }
  }

  private int status(Headers headers, byte[] body) {
    try {
      if (!isSigned(headers, body)) {
        return 401;
      }
      int status = statuses.applyAsInt(new String(body, StandardCharsets.UTF_8));
      if (status == 200) {
        books.book(
            new RailBooks.Entry(
                UUID.fromString(headers.getFirst("webhook-id")),
                headers.getFirst("x-aggregate-id"),
                headers.getFirst("x-key"),
                Long.parseLong(headers.getFirst("x-sequence"))));
      }
      return status;
    } catch (GeneralSecurityException | SQLException | RuntimeException e) {
      return 500;
    }
  }

  /** Standard Webhooks: the signature is over id, time and body. */
  private boolean isSigned(Headers headers, byte[] body) throws GeneralSecurityException {
    String head =
        headers.getFirst("webhook-id") + "." + headers.getFirst("webhook-timestamp") + ".";
    ByteArrayOutputStream signed = new ByteArrayOutputStream();
    signed.writeBytes(head.getBytes(StandardCharsets.UTF_8));
    signed.writeBytes(body);
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret, "HmacSHA256"));
    String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(signed.toByteArray()));
    String given = String.valueOf(headers.getFirst("webhook-signature"));
    return MessageDigest.isEqual(
        expected.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
