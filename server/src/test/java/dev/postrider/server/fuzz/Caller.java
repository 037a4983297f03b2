package dev.postrider.server.fuzz;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Sends bytes and reads answers, over one connection for as long as that lasts. */
final class Caller implements AutoCloseable {
  private static final int PATIENCE_MS = 30_000;
  private final int port;
  private @Nullable Socket socket;
  private @Nullable InputStream in;

  /** An answer; an endless one has no body. */
  record Answer(int status, String body) {}

  Caller(int port) {
    this.port = port;
  }

  Answer call(byte[] request) throws IOException {
    boolean used = socket != null;
    Answer answer = once(request);
    // A server may close a connection that waits for a request, at any time.
    return used && answer.status() == 0 ? once(request) : answer;
  }

  private Answer once(byte[] request) throws IOException {
    if (socket == null) {
      connect();
    }
    try {
      socket.getOutputStream().write(request);
      socket.getOutputStream().flush();
    } catch (IOException e) {
      // Refused before all of it was sent; the answer is there all the same, or the reset is.
    }
    try {
      return answer();
    } catch (IOException e) {
      close();
      return new Answer(0, String.valueOf(e));
    }
  }

  private void connect() throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(PATIENCE_MS);
    in = new BufferedInputStream(socket.getInputStream());
  }

  private Answer answer() throws IOException {
    String first = line();
    if (!first.startsWith("HTTP/1.1 ")) {
      throw new IllegalStateException("not an answer: " + first);
    }
    int status = Integer.parseInt(first.substring(9, 12));
    int length = -1;
    boolean closes = false;
    for (String header = line(); !header.isEmpty(); header = line()) {
      String lower = header.toLowerCase(Locale.ROOT);
      if (lower.startsWith("content-length:")) {
        length = Integer.parseInt(lower.substring(15).trim());
      }
      closes |= lower.equals("connection: close");
    }
    String body = length < 0 ? "" : new String(in.readNBytes(length), StandardCharsets.UTF_8);
    if (closes || length < 0) {
      close();
    }
    return new Answer(status, body);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("closed after: " + line);
      } else if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    if (socket != null) {
      socket.close();
      socket = null;
    }
  }
}
