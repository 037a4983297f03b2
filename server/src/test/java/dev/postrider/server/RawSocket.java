package dev.postrider.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** A socket that says exactly what it is told to, and when. */
final class RawSocket implements AutoCloseable {
  private static final int PATIENCE_MS = 20_000;
  private final Socket socket;
  private ByteBuffer unsaid = ByteBuffer.allocate(0);

  private RawSocket(Socket socket) {
    this.socket = socket;
  }

  static RawSocket open(Desk desk) throws IOException {
    String host = URI.create(desk.server.url()).getHost();
    Socket socket = new Socket(InetAddress.getAllByName(host)[0], desk.server.port());
    socket.setSoTimeout(PATIENCE_MS);
    return new RawSocket(socket);
  }

  /** One that can take little before it is read from. */
  static RawSocket deaf(Desk desk) throws IOException {
    SocketChannel channel = SocketChannel.open();
    channel.setOption(StandardSocketOptions.SO_RCVBUF, 4096);
    channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), desk.server.port()));
    channel.socket().setSoTimeout(PATIENCE_MS);
    return new RawSocket(channel.socket());
  }

  /** How many bytes have come and were not read. */
  int waiting() throws IOException {
    return socket.getInputStream().available();
  }

  /** Says it over and over; true if the server has read nothing since last time. If deaf. */
  boolean sayUntilFull(String text) throws IOException {
    SocketChannel channel = socket.getChannel();
    channel.configureBlocking(false);
    int all = 0;
    int written;
    do {
      unsaid = unsaid.hasRemaining() ? unsaid : ByteBuffer.wrap(text.getBytes(US_ASCII));
      written = channel.write(unsaid);
      all += written;
    } while (written > 0);
    channel.configureBlocking(true);
    return all == 0;
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
