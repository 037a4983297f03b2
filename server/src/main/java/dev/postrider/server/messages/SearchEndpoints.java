package dev.postrider.server.messages;

import dev.postrider.access.Permission;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Paging;
import dev.postrider.server.api.Problem;
import dev.postrider.store.MessagePage;
import dev.postrider.store.MessageStatus;
import dev.postrider.store.Messages;
import dev.postrider.store.Schema;
import dev.postrider.store.StoredMessage;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** Looks messages up. */
final class SearchEndpoints {
  private final Messages messages;

  SearchEndpoints(DataSource dataSource, Schema schema) {
    this.messages = new Messages(dataSource, schema);
  }

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/messages", Permission.READ)
            .about(
                "messages",
                "Search, the newest first. A page may hold fewer than asked for, even none, and"
                    + " still have a next")
            .scoped()
            .query(Conditions.MESSAGES)
            .query(Paging.cursor(Kind.ID), Paging.LIMIT)
            .answersPage(MessageStatus.class, UUID.class)
            .handledBy(this::search),
        Endpoint.get("/v1/messages/{id}", Permission.READ)
            .about(
                "messages", "One message with its attempts; payload and headers need payload:read")
            .scoped()
            .path(Field.of("id", Kind.ID, "The message's id"))
            .answers(ShownMessage.class)
            .problems(404)
            .handledBy(this::show));
  }

  private Object search(Call call) throws SQLException {
    MessagePage page = Search.page(messages, call);
    return Paging.page(page.items(), page.next());
  }

  private Object show(Call call) throws SQLException {
    UUID id = call.path().idOf("id");
    StoredMessage message =
        messages
            .find(id)
            .filter(
                found ->
                    call.caller().scope().covers(found.status().tenant(), found.status().route()))
            .orElseThrow(() -> Problem.notFound("there is no message " + id).toException());
    return ShownMessage.of(message, messages.attempts(id), call.may(Permission.PAYLOAD_READ));
  }
}
