package dev.postrider.server.messages;

import dev.postrider.message.MessageState;
import dev.postrider.operations.MessageFilter;
import dev.postrider.operations.MessagePage;
import dev.postrider.operations.MessageStatus;
import dev.postrider.operations.Messages;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Paging;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
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

  /** The state of a message is not in its index, so a rare one ends after so many pages. */
  private static final int PAGES_MAX = 4;

  private static final int PAGE = 500;

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
        : inState(
            messages, filter, cursor, limit, MessageState.valueOf(state.toUpperCase(Locale.ROOT)));
  }

  private static MessagePage inState(
      Messages messages, MessageFilter filter, @Nullable UUID cursor, int limit, MessageState state)
      throws SQLException {
    List<MessageStatus> found = new ArrayList<>();
    @Nullable UUID next = cursor;
    for (int pages = 0; pages < PAGES_MAX; pages++) {
      MessagePage page = messages.search(filter, next, PAGE);
      for (MessageStatus message : page.items()) {
        if (message.state() == state) {
          found.add(message);
          if (found.size() == limit) {
            return new MessagePage(found, message.id());
          }
        }
      }
      next = page.next();
      if (next == null) {
        break;
      }
    }
    return new MessagePage(found, next);
  }
}
