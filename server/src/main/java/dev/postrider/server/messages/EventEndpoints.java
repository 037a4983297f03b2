package dev.postrider.server.messages;

import dev.postrider.access.Permission;
import dev.postrider.internal.monitor.EventCounts;
import dev.postrider.message.AttemptState;
import dev.postrider.operations.AttemptRecord;
import dev.postrider.operations.MessagePage;
import dev.postrider.operations.MessageStatus;
import dev.postrider.operations.Messages;
import dev.postrider.schema.Schema;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Listing;
import dev.postrider.server.api.Paging;
import dev.postrider.server.api.Values;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What happened: events with what became of them, and how many in each interval. */
final class EventEndpoints {
  private static final Set<String> NOT_COUNTED = Set.of("key", "from", "to");
  private static final List<Field> COUNTED =
      Conditions.MESSAGES.stream().filter(field -> !NOT_COUNTED.contains(field.name())).toList();

  private final Messages messages;
  private final EventCounts counts;

  EventEndpoints(DataSource dataSource, Schema schema) {
    this.messages = new Messages(dataSource, schema);
    this.counts = new EventCounts(dataSource, schema);
  }

  /** An event, from the log, and its attempts, which were appended with each delivery. */
  record Event(
      UUID eventId,
      @Nullable Instant occurredAt,
      String namespace,
      String topic,
      @Nullable String eventType,
      @Nullable String aggregateType,
      @Nullable String aggregateId,
      @Nullable String tenant,
      @Nullable Instant deliveredAt,
      List<AttemptRecord> attempts) {}

  List<Endpoint> list() {
    return List.of(
        Endpoint.get("/v1/events", Permission.READ)
            .about("events", "History, the newest first, with every attempt to deliver")
            .scoped()
            .query(Conditions.MESSAGES)
            .query(Paging.cursor(Kind.ID), Paging.LIMIT)
            .answersPage(Event.class, UUID.class)
            .handledBy(this::history),
        Endpoint.get("/v1/events/counts", Permission.READ)
            .about(
                "events",
                "Events per interval, and what became of them; at least so many where an interval"
                    + " is not complete")
            .scoped()
            .query(COUNTED)
            .query(
                Field.of("from", Kind.TIME, "Start of the first interval").mandatory(),
                Field.of("to", Kind.TIME, "End of the last interval").mandatory(),
                Field.of("interval", Kind.DURATION, "Of whole seconds, such as PT1M").mandatory())
            .answersList(EventCounts.Interval.class)
            .handledBy(this::counts));
  }

  private Object history(Call call) throws SQLException {
    MessagePage page = Search.page(messages, call);
    Map<UUID, List<AttemptRecord>> attempts =
        messages.attempts(page.items().stream().map(MessageStatus::id).toList());
    return Paging.page(
        page.items().stream()
            .map(message -> event(message, attempts.getOrDefault(message.id(), List.of())))
            .toList(),
        page.next());
  }

  private static Event event(MessageStatus message, List<AttemptRecord> attempts) {
    return new Event(
        message.id(),
        message.createdAt(),
        message.route().namespace(),
        message.route().topic(),
        message.eventType(),
        message.aggregateType(),
        message.aggregateId(),
        message.tenant(),
        attempts.stream()
            .filter(attempt -> attempt.state() == AttemptState.DISPATCHED)
            .map(AttemptRecord::finishedAt)
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(null),
        attempts);
  }

  private Object counts(Call call) throws SQLException {
    Values query = call.query();
    return Listing.of(
        counts.count(
            Conditions.within(call.caller().scope(), query, COUNTED),
            Objects.requireNonNull(query.time("from")),
            Objects.requireNonNull(query.time("to")),
            Objects.requireNonNull(query.duration("interval"))));
  }
}
