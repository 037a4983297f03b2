package dev.postrider.lease;

import dev.postrider.lease.LeaseStore.Earlier;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.util.Optional;
import java.util.UUID;

/** Finds earlier deliveries by their content. Thread-safe. */
final class DeliveredContent {
  // The driver calls a string varchar. Compared as that, an operator that somebody else made for
  // text and varchar would be used.
  private static final String EARLIER =
      """
      select d.message_id, d.reference
        from postrider.route r join postrider.delivered_content d on d.route = r.id
       where r.namespace = ?::text and r.topic = ?::text and r.subscription = ?::text and d.sha256 = ?
      """;

  private final QueryRunner queries;
  private final Schema schema;

  DeliveredContent(QueryRunner queries, Schema schema) {
    this.queries = queries;
    this.schema = schema;
  }

  /** The delivery of this content to this target, if there was one. */
  Optional<Earlier> find(Route target, byte[] payloadSha256) {
    return queries
        .rows(
            "checkDedup",
            schema.sql(EARLIER),
            call -> {
              call.setString(1, target.namespace());
              call.setString(2, target.topic());
              call.setString(3, target.subscription());
              call.setBytes(4, payloadSha256);
            },
            row -> new Earlier(row.getObject(1, UUID.class), row.getString(2)))
        .stream()
        .findFirst();
  }
}
