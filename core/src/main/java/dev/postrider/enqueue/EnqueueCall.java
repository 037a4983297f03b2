package dev.postrider.enqueue;

import dev.postrider.internal.protocol.Protocol;
import dev.postrider.internal.text.Json;
import dev.postrider.message.Enqueued;
import dev.postrider.message.NewMessage;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A call of {@code postrider.enqueue} that names only the fields that the message has: each
 * parameter costs the driver and the server, null ones too. A service sends few shapes of messages,
 * so its statements stay prepared. Used by one thread.
 *
 * <p>The usual shapes have a quick function each, which may decline. The answer is left in one
 * piece: a function in FROM costs a tuple store for each call.
 */
final class EnqueueCall {
  private final StringBuilder parameters = new StringBuilder(160).append("(?, ?");
  private final List<Object> values = new ArrayList<>(6);
  private final @Nullable String quick;

  EnqueueCall(NewMessage message) {
    values.add(message.route().namespace());
    values.add(message.route().topic());
    if (message.isJson()) {
      with(", payload => ?", new String(message.payload(), StandardCharsets.UTF_8));
    } else {
      with(", payload_bytes => ?", message.payload());
    }
    int names =
        name(", key => ?", message.key())
            + name(", dedupe_key => ?", message.dedupeKey())
            + name(", tenant => ?", message.tenant())
            + name(", aggregate_type => ?", message.aggregateType())
            + name(", aggregate_id => ?", message.aggregateId())
            + name(", event_type => ?", message.eventType());
    int headers =
        message.headers().isEmpty()
            ? 0
            : name(", headers => ?::jsonb", Json.write(message.headers()));
    // Beyond these the quick function declines.
    boolean usual =
        message.isJson()
            && message.payload().length <= Protocol.FAST_PAYLOAD
            && names <= Protocol.FAST_NAMES
            && headers <= Protocol.FAST_HEADERS
            && message.notBefore() == null
            && message.id() == null;
    this.quick = usual ? quick(message) : null;
    with(", content_type => ?", message.contentType());
    if (message.notBefore() != null) {
      with(", not_before => ?", message.notBefore().atOffset(ZoneOffset.UTC));
    }
    with(", id => ?", message.id());
    parameters.append(')');
  }

  private @Nullable String quick(NewMessage message) {
    if (message.key() != null) {
      return message.dedupeKey() == null ? "try_enqueue_keyed" : "try_enqueue_once";
    }
    return values.size() == 3 ? "try_enqueue_plain" : null;
  }

  private int name(String parameter, @Nullable String value) {
    with(parameter, value);
    return value == null ? 0 : value.length();
  }

  private void with(String parameter, @Nullable Object value) {
    if (value != null) {
      parameters.append(parameter);
      values.add(value);
    }
  }

  /** The quick function for this shape of message, if there is one. */
  @Nullable String quickSql() {
    return quick == null ? null : "select postrider." + quick + parameters;
  }

  String sql() {
    return "select postrider.enqueue" + parameters;
  }

  void bind(PreparedStatement statement) throws SQLException {
    for (int i = 0; i < values.size(); i++) {
      statement.setObject(i + 1, values.get(i));
    }
  }

  /** Null if a quick function has declined; then it has written nothing. */
  static @Nullable Enqueued answer(ResultSet row) throws SQLException {
    Object answer = row.getObject(1);
    if (answer == null) {
      return null;
    }
    if (answer instanceof UUID id) {
      return new Enqueued(id, null, false);
    }
    // (id,sequence,duplicate): none of the three can hold a comma or a quote.
    String composite = answer.toString();
    String[] fields = composite.substring(1, composite.length() - 1).split(",", -1);
    return new Enqueued(
        UUID.fromString(fields[0]),
        fields[1].isEmpty() ? null : Long.valueOf(fields[1]),
        fields[2].equals("t"));
  }
}
