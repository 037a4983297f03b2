package dev.postrider.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/** A socket that says exactly what it is told to, and when. */
final class RawSocket implements AutoCloseable {
  private static final int PATIENCE_MS = 20_000;
  private final Socket socket;

  private RawSocket(Socket socket) {
    this.socket = socket;
  }

  static RawSocket open(Desk desk) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), desk.server.port());
    socket.setSoTimeout(PATIENCE_MS);
    return new RawSocket(socket);
  }

  static RawSocket saying(Desk desk, String text) throws IOException {
    return open(desk).say(text);
  }

  RawSocket say(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    socket.getOutputStream().flush();
    return this;
  }

  /** All that comes until the server closes. */
  String rest() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    try {
      socket.getInputStream().transferTo(all);
    } catch (SocketTimeoutException e) {
      all.writeBytes("[still open]".getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      all.writeBytes("[reset]".getBytes(StandardCharsets.US_ASCII));
    }
    return all.toString(StandardCharsets.UTF_8);
  }

  /** The head of the next answer, up to the empty line; what came if there is no such. */
  String head() throws IOException {
    StringBuilder head = new StringBuilder();
    InputStream in = socket.getInputStream();
    for (int c = in.read(); c >= 0; c = in.read()) {
      head.append((char) c);
      if (head.length() >= 4 && head.indexOf("\r\n\r\n", head.length() - 4) >= 0) {
        break;
      }
    }
    return head.toString();
  }

  /** Whether the server has closed it. */
  boolean closed() throws IOException {
    socket.setSoTimeout(1);
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    } finally {
      socket.setSoTimeout(PATIENCE_MS);
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
