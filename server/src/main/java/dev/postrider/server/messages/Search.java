package dev.postrider.server.messages;

import dev.postrider.message.MessageState;
import dev.postrider.operations.MessageFilter;
import dev.postrider.operations.MessagePage;
import dev.postrider.operations.Messages;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Paging;
import java.sql.SQLException;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A page of the messages that a call asks for and may see. */
final class Search {
  static final Field STATE =
      Field.choice(
          "state",
          "Only in this state. It is looked up for each message, 2,000 a call at most",
          "pending",
          "processing",
          "delivered",
          "dead");

  private Search() {}

  static MessagePage page(Messages messages, Call call) throws SQLException {
    MessageFilter filter =
        new MessageFilter(
            Conditions.within(call.caller().scope(), call.query(), Conditions.MESSAGES));
    @Nullable UUID cursor = call.query().id("cursor");
    int limit = Paging.limit(call.query());
    @Nullable String state = call.query().has("state") ? call.query().text("state") : null;
    return state == null
        ? messages.search(filter, cursor, limit)
        : messages.search(
            filter, MessageState.valueOf(state.toUpperCase(Locale.ROOT)), cursor, limit);
  }
}
