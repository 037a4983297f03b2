package dev.postrider.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stream clients, all read by one thread. They speak HTTP/1.0, so that the answer is not cut into
 * chunks. Started and asked by one thread, run by another.
 */
final class StreamClients implements AutoCloseable {
  private static final int DIGITS = 19;
  private static final int LINE_MAX = 4096;

  private final Selector selector = Selector.open();
  private final List<Reader> readers = new ArrayList<>();
  private final ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
  private final Thread thread = new Thread(this::run, "stream-clients");
  private volatile boolean running = true;
  private long[] delays = new long[1 << 20];
  private int count;

  StreamClients() throws IOException {}

  /** The events that this client wants: all of them, or those of its room. */
  void connect(int port, String token, String query) throws IOException {
    SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    String request =
        "GET /v1/streams/events%s HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n"
            .formatted(query, token);
    channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
    channel.configureBlocking(false);
    Reader reader = new Reader();
    channel.register(selector, SelectionKey.OP_READ, reader);
    readers.add(reader);
  }

  StreamClients start() {
    thread.start();
    return this;
  }

  private void run() {
    try {
      while (running) {
        selector.select(this::read, 100);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void read(SelectionKey key) {
    try {
      buffer.clear();
      if (((SocketChannel) key.channel()).read(buffer) < 0) {
        ((Reader) key.attachment()).cutOff = true;
        key.cancel();
        return;
      }
      ((Reader) key.attachment()).take(buffer.flip());
    } catch (IOException e) {
      ((Reader) key.attachment()).cutOff = true;
      key.cancel();
    }
  }

  private final class Reader {
    final byte[] line = new byte[LINE_MAX];
    int length;
    volatile boolean started;
    volatile boolean cutOff;
    final AtomicInteger events = new AtomicInteger();

    void take(ByteBuffer bytes) {
      while (bytes.hasRemaining()) {
        byte next = bytes.get();
        if (next == '\n') {
          ended();
          length = 0;
        } else if (length < LINE_MAX) {
          line[length++] = next;
        }
      }
    }

    private void ended() {
      if (length < 4 || line[0] != '{') {
        return;
      }
      started = true;
      if (line[2] == 'e' && line[3] == 'v') {
        events.incrementAndGet();
        delayed(System.nanoTime() - sent());
      } else if (line[2] == 'e') {
        cutOff = true;
      }
    }

    /** The payload comes last: {"at":"0000000000000000000"}} */
    private long sent() {
      int end = length - 3;
      return Long.parseLong(
          new String(line, end - DIGITS, DIGITS, StandardCharsets.US_ASCII).strip());
    }
  }

  private void delayed(long nanos) {
    if (count == delays.length) {
      delays = Arrays.copyOf(delays, 2 * count);
    }
    delays[count++] = nanos;
  }

  /** Clients that have heard where they start. */
  long started() {
    return readers.stream().filter(reader -> reader.started).count();
  }

  /** Clients that have not got so many events, or were cut off. */
  long behind(int expected) {
    return readers.stream()
        .filter(reader -> reader.cutOff || reader.events.get() < expected)
        .count();
  }

  long events() {
    return readers.stream().mapToLong(reader -> reader.events.get()).sum();
  }

  /** Ends reading; then delays can be asked for. */
  @Override
  public void close() throws IOException, InterruptedException {
    running = false;
    thread.join();
    for (SelectionKey key : selector.keys()) {
      key.channel().close();
    }
    selector.close();
    Arrays.sort(delays, 0, count);
  }

  double delayMillis(double share) {
    return count == 0 ? Double.NaN : delays[(int) Math.min(count - 1, share * count)] / 1e6;
  }
}
