package dev.postrider.cli.destination;

import dev.postrider.dispatch.Destination;
import dev.postrider.testkit.Arrival;
import dev.postrider.testkit.OutageContract;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

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

  @Override
  protected List<Arrival> arrived() {
    List<Arrival> arrivals = new ArrayList<>();
    for (String line : written.toString(StandardCharsets.UTF_8).lines().toList()) {
      arrivals.add(arrival(line));
    }
    return arrivals;
  }

  private static Arrival arrival(String line) {
    LoadSettings settings = LoadSettings.builder().setCodePointLimit(Integer.MAX_VALUE).build();
    Map<?, ?> fields = (Map<?, ?>) new Load(settings).loadFromString(line);
    Map<String, String> headers = new LinkedHashMap<>();
    if (fields.get("headers") instanceof Map<?, ?> map) {
      map.forEach((name, value) -> headers.put((String) name, (String) value));
    }
    return new Arrival(
        UUID.fromString((String) fields.get("id")), payload(fields.get("payload"), line), headers);
  }

  private static byte[] payload(Object payload, String line) {
    if (payload instanceof Map<?, ?> map && map.get("base64") instanceof String base64) {
      return Base64.getDecoder().decode(base64);
    } else if (payload instanceof String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    // JSON goes in as it is, and is the last thing on the line.
    String start = "\"payload\":";
    return line.substring(line.indexOf(start) + start.length(), line.length() - 1)
        .getBytes(StandardCharsets.UTF_8);
  }
}
