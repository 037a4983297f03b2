package dev.postrider.cli.destination;

import dev.postrider.cli.output.JsonLine;
import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes each message as one line of JSON. Delivered means that the stream took it; if nobody reads
 * any more the messages stay in the queue. Called by one thread at a time.
 */
public final class LogDestination implements Destination {
  private final OutputStream out;

  public LogDestination(OutputStream out) {
    this.out = out;
  }

  @Override
  public void deliver(List<Message> batch, Answers answers) {
    Outcome outcome = Outcome.delivered();
    // All or none: a stream with a buffer of its own would send later what was answered as failed.
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (Message message : batch) {
      lines.writeBytes(line(message).getBytes(StandardCharsets.UTF_8));
      lines.write('\n');
    }
    try {
      lines.writeTo(out);
      out.flush();
    } catch (IOException e) {
      outcome = Outcome.unavailable("output_closed", "the output is gone: " + e.getMessage());
    }
    for (Message message : batch) {
      answers.answer(message.id(), outcome);
    }
  }

  /** A stream keeps what is written to it in order. */
  @Override
  public boolean keepsOrder() {
    return true;
  }

  static String line(Message message) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", message.id());
    fields.put("namespace", message.route().namespace());
    fields.put("topic", message.route().topic());
    put(fields, "key", message.key());
    if (message.key() != null) {
      fields.put("sequence", message.sequence());
    }
    put(fields, "tenant", message.tenant());
    put(fields, "aggregate_type", message.aggregateType());
    put(fields, "aggregate_id", message.aggregateId());
    put(fields, "event_type", message.eventType());
    fields.put("created_at", message.createdAt());
    fields.put("attempt", message.attempt());
    fields.put("delivery", message.delivery());
    if (!message.headers().isEmpty()) {
      fields.put("headers", message.headers());
    }
    fields.put("content_type", message.contentType());
    fields.put("payload", JsonLine.payload(message.json(), message.payload()));
    return JsonLine.of(fields);
  }

  private static void put(Map<String, Object> fields, String name, @Nullable Object value) {
    if (value != null) {
      fields.put(name, value);
    }
  }
}
