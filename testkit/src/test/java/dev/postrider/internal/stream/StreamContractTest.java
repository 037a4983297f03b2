package dev.postrider.internal.stream;

import dev.postrider.destination.Destination;
import dev.postrider.internal.text.Json;
import dev.postrider.message.Message;
import dev.postrider.schema.Schema;
import dev.postrider.stream.StreamDestination;
import dev.postrider.testkit.Arrival;
import dev.postrider.testkit.OutageContract;
import dev.postrider.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

@Tag("OP-6")
@Tag("CH-2")
class StreamContractTest extends OutageContract {
  private static final TestPostgres POSTGRES = TestPostgres.start();
  private final StreamLog log = new StreamLog(POSTGRES.dataSource(), Schema.DEFAULT);
  private final Set<UUID> enqueued = new HashSet<>();
  private final List<Arrival> arrivals = new ArrayList<>();
  private long position;
  private boolean away;
  private boolean delivered;

  @AfterAll
  static void stop() {
    POSTGRES.close();
  }

  @Override
  protected Destination open() throws Exception {
    position = log.latest();
    StreamDestination destination = new StreamDestination(POSTGRES.dataSource(), Schema.DEFAULT);
    return new Destination() {
      @Override
      public void deliver(List<Message> batch, Answers answers) {
        enqueue(batch);
        destination.deliver(batch, answers);
        delivered = true;
      }

      @Override
      public boolean keepsOrder() {
        return destination.keepsOrder();
      }

      @Override
      public void close() {
        destination.close();
      }
    };
  }

  /** A message that is delivered is in the log of messages; the contract makes up its own. */
  private void enqueue(List<Message> batch) {
    if (away) {
      return;
    }
    try (Connection connection = POSTGRES.dataSource().getConnection();
        PreparedStatement insert =
            connection.prepareStatement(
                """
                insert into postrider.message (id, created_at, route, content_type, headers, payload, is_json)
                values (?, ?, postrider.intern_route(?, ?), ?, ?::jsonb, ?, ?)
                """)) {
      for (Message message : batch) {
        if (enqueued.add(message.id())) {
          bind(insert, message);
          insert.addBatch();
        }
      }
      insert.executeBatch();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void bind(PreparedStatement insert, Message message) throws SQLException {
    insert.setObject(1, message.id());
    insert.setObject(2, message.createdAt().atOffset(ZoneOffset.UTC));
    insert.setString(3, message.route().namespace());
    insert.setString(4, message.route().topic());
    insert.setString(5, message.contentType());
    insert.setString(6, Json.write(message.headers()));
    insert.setBytes(7, message.payload());
    insert.setBoolean(8, message.json());
  }

  @Override
  protected List<Arrival> arrived() throws Exception {
    if (!delivered) {
      return arrivals;
    }
    delivered = false;
    StreamPage page;
    do {
      page = log.after(position, StreamFilter.ALL, 1000);
      position = page.position();
      for (StreamEvent event : page.events()) {
        StreamEvent.Content content = Objects.requireNonNull(event.content());
        arrivals.add(new Arrival(event.id(), content.payload(), content.headers()));
      }
    } while (position < page.latest());
    return arrivals;
  }

  @Override
  protected void breakOff() {
    away = true;
    POSTGRES.server().stopImmediately();
  }

  @Override
  protected void repair() {
    POSTGRES.server().restart();
    away = false;
  }
}
