package dev.postrider.server.messages;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.postrider.access.Permission;
import dev.postrider.internal.monitor.Why;
import dev.postrider.operations.MessagePage;
import dev.postrider.operations.MessageStatus;
import dev.postrider.operations.Messages;
import dev.postrider.operations.StoredMessage;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Listing;
import dev.postrider.server.api.Paging;
import dev.postrider.server.api.Problem;
import dev.postrider.server.api.ProblemException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Looks messages up. */
final class SearchEndpoints {
  private static final Field ID = Field.of("id", Kind.ID, "The message's id");
  private static final int NEIGHBOURS = 5;

  private final Messages messages;
  private final Why why;

  SearchEndpoints(DataSource dataSource, Schema schema) {
    this.messages = new Messages(dataSource, schema);
    this.why = new Why(dataSource, schema);
  }

  /** Why a message is not delivered: its reasons in words. */
  record Explained(UUID id, List<ShownReason> reasons) {}

  /** A reason, and what it says. */
  record ShownReason(@JsonUnwrapped Why.Reason reason, String text) {}

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/messages", Permission.READ)
            .about(
                "messages",
                "Search, the newest first. A page may hold fewer than asked for, even none, and"
                    + " still have a next")
            .scoped()
            .query(Conditions.MESSAGES)
            .query(Search.STATE)
            .query(Paging.cursor(Kind.ID), Paging.LIMIT)
            .answersPage(MessageStatus.class, UUID.class)
            .handledBy(this::search),
        Endpoint.get("/v1/messages/{id}", Permission.READ)
            .about(
                "messages",
                "One message with its deliveries, one for each subscription, and its attempts;"
                    + " payload and headers need payload:read")
            .scoped()
            .path(ID)
            .answers(ShownMessage.class)
            .problems(404)
            .handledBy(this::show),
        Endpoint.get("/v1/messages/{id}/why", Permission.READ)
            .about(
                "messages",
                "Why it is not delivered: all that holds it back now, the first to go away first")
            .scoped()
            .path(ID)
            .answers(Explained.class)
            .problems(404)
            .handledBy(this::explain),
        Endpoint.get("/v1/messages/{id}/neighbours", Permission.READ)
            .about("messages", "Messages of the same key next to it, in the order of the key")
            .scoped()
            .path(ID)
            .answersList(MessageStatus.class)
            .problems(404)
            .handledBy(this::neighbours));
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
            .filter(found -> covers(call, found.status()))
            .orElseThrow(() -> notFound(id));
    return ShownMessage.of(
        message, messages.deliveries(id), messages.attempts(id), call.may(Permission.PAYLOAD_READ));
  }

  private static boolean covers(Call call, MessageStatus message) {
    return call.caller().scope().covers(message.tenant(), message.route());
  }

  private static ProblemException notFound(UUID id) {
    return Problem.notFound("there is no message " + id).toException();
  }

  /** The message, if the caller may see it. */
  private UUID visible(Call call) throws SQLException {
    UUID id = call.path().idOf("id");
    return messages
        .status(id)
        .filter(found -> covers(call, found))
        .map(MessageStatus::id)
        .orElseThrow(() -> notFound(id));
  }

  private Object explain(Call call) throws SQLException {
    UUID id = visible(call);
    List<ShownReason> shown = new ArrayList<>();
    for (Why.Reason reason : why.ask(id)) {
      if (sees(call, reason.message())) {
        Why.Reason said = sees(call, reason.other()) ? reason : reason.withoutOther();
        shown.add(new ShownReason(said, said.text()));
      }
    }
    return new Explained(id, shown);
  }

  /** A key that services in the database share may have a message of another tenant in front. */
  private boolean sees(Call call, @Nullable UUID id) throws SQLException {
    return id == null
        || !call.caller().scope().limited()
        || messages.status(id).filter(found -> covers(call, found)).isPresent();
  }

  private Object neighbours(Call call) throws SQLException {
    return Listing.of(
        messages.neighbours(visible(call), NEIGHBOURS).stream()
            .filter(message -> covers(call, message))
            .toList());
  }
}
