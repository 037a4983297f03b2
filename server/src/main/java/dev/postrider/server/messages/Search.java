package dev.postrider.server.messages;

import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Paging;
import dev.postrider.store.MessageFilter;
import dev.postrider.store.MessagePage;
import dev.postrider.store.Messages;
import java.sql.SQLException;

/** A page of the messages that a call asks for and may see. */
final class Search {
  private Search() {}

  static MessagePage page(Messages messages, Call call) throws SQLException {
    MessageFilter filter =
        new MessageFilter(
            Conditions.within(call.caller().scope(), call.query(), Conditions.MESSAGES));
    return messages.search(filter, call.query().id("cursor"), Paging.limit(call.query()));
  }
}
