package dev.postrider.cli.destination;

import dev.postrider.destination.Destination;
import dev.postrider.internal.text.Json;
import dev.postrider.testkit.Arrival;
import dev.postrider.testkit.OutageContract;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Tag;

/** Each message is one line, and what is on the line is the message. */
@Tag("OP-6")
class LogDestinationContractTest extends OutageContract {
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private volatile boolean closed;

  /** A pipe whose reader can leave. */
  private final OutputStream pipe =
      new OutputStream() {
        @Override
        public void write(int value) throws IOException {
          write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public synchronized void write(byte[] bytes, int from, int length) throws IOException {
          if (closed) {
            throw new IOException("Broken pipe");
          }
          written.write(bytes, from, length);
        }
      };

  @Override
  protected Destination open() {
    return new LogDestination(pipe);
  }

  @Override
  protected void breakOff() {
    closed = true;
  }

  @Override
  protected void repair() {
    closed = false;
  }

  /**
   * Lines that were read already: there may be thousands, and they are asked for again and again.
   */
  private final List<Arrival> arrivals = new ArrayList<>();

  @Override
  protected List<Arrival> arrived() {
    List<String> lines = written.toString(StandardCharsets.UTF_8).lines().toList();
    for (String line : lines.subList(arrivals.size(), lines.size())) {
      arrivals.add(arrival(line));
    }
    return arrivals;
  }

  private static Arrival arrival(String line) {
    Map<String, String> headers =
        line.contains("\"headers\":{") ? Json.read(between(line, "\"headers\":", "},")) : Map.of();
    return new Arrival(UUID.fromString(between(line, "{\"id\":\"", "\"")), payload(line), headers);
  }

  private static byte[] payload(String line) {
    String json = line.substring(line.indexOf("\"payload\":") + 10, line.length() - 1);
    boolean text = json.startsWith("\"");
    return (text ? Json.read("{\"text\":" + json + "}").get("text") : json)
        .getBytes(StandardCharsets.UTF_8);
  }

  private static String between(String line, String start, String end) {
    int from = line.indexOf(start) + start.length();
    return line.substring(from, line.indexOf(end, from) + (end.length() - 1));
  }
}
