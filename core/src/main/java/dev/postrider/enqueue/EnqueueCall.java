package dev.postrider.enqueue;

import dev.postrider.message.Enqueued;
import dev.postrider.message.Json;
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
 * parameter costs the driver and the server, null ones too. One that has none of the optional ones
 * goes to {@code postrider.enqueue_plain}, which answers with nothing but the id. A service sends
 * few shapes of messages, so its statements stay prepared. Used by one thread.
 *
 * <p>The answer is left in one piece: a function in FROM costs a tuple store for each call.
 */
final class EnqueueCall {
  private static final String PLAIN = "select postrider.enqueue_plain(?, ?, ?)";

  private final StringBuilder sql = new StringBuilder("select postrider.enqueue(?, ?");
  private final List<Object> values = new ArrayList<>(4);
  private final boolean json;

  private EnqueueCall(boolean json) {
    this.json = json;
  }

  static EnqueueCall of(NewMessage message) {
    EnqueueCall call = new EnqueueCall(message.isJson());
    call.values.add(message.route().namespace());
    call.values.add(message.route().topic());
    if (call.json) {
      call.with(", payload => ?", new String(message.payload(), StandardCharsets.UTF_8));
    } else {
      call.with(", payload_bytes => ?", message.payload());
    }
    call.with(", key => ?", message.key());
    call.with(", dedupe_key => ?", message.dedupeKey());
    call.with(", tenant => ?", message.tenant());
    call.with(", aggregate_type => ?", message.aggregateType());
    call.with(", aggregate_id => ?", message.aggregateId());
    call.with(", event_type => ?", message.eventType());
    if (!message.headers().isEmpty()) {
      call.with(", headers => ?::jsonb", Json.write(message.headers()));
    }
    call.with(", content_type => ?", message.contentType());
    if (message.notBefore() != null) {
      call.with(", not_before => ?", message.notBefore().atOffset(ZoneOffset.UTC));
    }
    call.with(", id => ?", message.id());
    call.sql.append(')');
    return call;
  }

  private void with(String parameter, @Nullable Object value) {
    if (value != null) {
      sql.append(parameter);
      values.add(value);
    }
  }

  String sql() {
    return plain() ? PLAIN : sql.toString();
  }

  private boolean plain() {
    return json && values.size() == 3;
  }

  void bind(PreparedStatement statement) throws SQLException {
    for (int i = 0; i < values.size(); i++) {
      statement.setObject(i + 1, values.get(i));
    }
  }

  Enqueued answer(ResultSet row) throws SQLException {
    if (plain()) {
      return new Enqueued(row.getObject(1, UUID.class), null, false);
    }
    // (id,sequence,duplicate): none of the three can hold a comma or a quote.
    String composite = row.getString(1);
    String[] fields = composite.substring(1, composite.length() - 1).split(",", -1);
    return new Enqueued(
        UUID.fromString(fields[0]),
        fields[1].isEmpty() ? null : Long.valueOf(fields[1]),
        fields[2].equals("t"));
  }
}
