package dev.postrider.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.enqueue.Outbox;
import dev.postrider.lease.LeaseOptions;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Enqueued;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** A database with messages in it, seen from a test of the lease protocol. */
public final class Postbox {
  public static final String NAMESPACE = "shop";
  public static final Duration MINUTE = Duration.ofMinutes(1);

  public final TestDatabase database;

  public Postbox(int version) {
    this.database = TestDatabase.create(version);
  }

  public LeaseStore worker(String name) {
    return worker(name, LeaseOptions.DEFAULT);
  }

  public LeaseStore worker(String name, LeaseOptions options) {
    return new LeaseStore(database.dataSource(), Schema.DEFAULT, name, options);
  }

  public UUID send(String topic, String key) {
    return send(1, topic, key).get(0);
  }

  public UUID send(String topic) {
    return send(topic, null);
  }

  /** Payloads are numbered from 0; ids come in the order of the queue. */
  public List<UUID> send(int count, String topic, String key) {
    List<NewMessage> messages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      NewMessage.Builder message = NewMessage.to(NAMESPACE, topic).json("{\"n\": " + i + "}");
      messages.add((key == null ? message : message.key(key)).build());
    }
    try (Connection connection = database.transaction()) {
      List<Enqueued> sent = new Outbox().enqueue(connection, messages);
      connection.commit();
      // Before PostgreSQL 18, ids made within one millisecond are in no order.
      Comparator<UUID> unsigned = Comparator.comparing(UUID::toString);
      Stream<UUID> ids = sent.stream().map(Enqueued::id);
      return (key == null ? ids.sorted(unsigned) : ids).toList();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Every running lease is over, as if its time had passed. */
  public void lapse() {
    database.execute("update postrider.lease set until = now() - interval '1 s'");
  }

  /** Every lease was taken long ago, but still runs. */
  public void age() {
    database.execute("update postrider.lease set claimed_at = now() - interval '1 min'");
  }

  /** What waits for its time need not wait any longer. */
  public void letTimePass() {
    database.execute(
        """
        update postrider.queue set due_at = now() - interval '1 s'
         where lane < 0 and due_at < 'infinity'
        """);
  }

  public String state(UUID id) {
    return database.value("select state from postrider.message_state where id = '" + id + "'");
  }

  /** The attempts of a message, oldest first, in the words of the view. */
  public List<String> attempts(UUID id) {
    return database.column(
        "select state from postrider.attempt_history where message_id = '"
            + id
            + "' order by finished_at nulls last, no");
  }

  public static List<UUID> ids(List<Message> messages) {
    return messages.stream().map(Message::id).toList();
  }

  /** What holds at every instant, whatever runs or has crashed: one statement, one snapshot. */
  public List<String> violations() {
    return database.column(
        """
        select 'held by no lease: ' || q.id from postrider.queue q
          left join postrider.lease l on l.token = q.lease
         where q.lease is not null and l.token is null
        union all
        select 'lease counts wrong: ' || l.token || ' open ' || l.open from postrider.lease l
         where l.open <> (select count(*) from postrider.queue q where q.lease = l.token)
        union all
        select 'held, but parked: ' || q.id from postrider.queue q
         where q.lease is not null and (q.lane < 0 or q.due_at is not null)
        union all
        select 'due time does not fit: ' || q.id from postrider.queue q
         where (q.lane < 0) <> (q.due_at is not null)
        union all
        select 'parked with nobody to pull it: ' || q.id from postrider.queue q
         where q.due_at = 'infinity' and not q.blocked
           and not exists (select from postrider.queue h
                            where h.key_id = q.key_id and h.sequence < q.sequence and h.pull)
        union all
        select 'lost: ' || m.id from postrider.message m
         where not exists (select from postrider.queue q where q.id = m.id)
           and not exists (select from postrider.attempt a
                            where a.message_id = m.id and a.state in (1, 3))
        """);
  }

  public void check() {
    assertThat(violations()).isEmpty();
  }
}
