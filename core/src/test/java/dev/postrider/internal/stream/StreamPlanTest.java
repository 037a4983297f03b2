package dev.postrider.internal.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.jdbc.Database;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every read enters the log by the index of its filter, whatever the statistics say. */
@Timeout(120)
class StreamPlanTest {
  private static final Channel CHANNEL = new Channel();

  /** One tenant, topic and aggregate make up nearly all, so that the primary key looks tempting. */
  @BeforeAll
  static void fill() {
    CHANNEL.appendMany(
        20_000,
        """
        'ns', 'topic', '{}', tenant => 'big', aggregate_type => 'room', aggregate_id => 'big'
        """);
    CHANNEL.append("'ns2', 'other', '{}', tenant => 'small'");
    CHANNEL.database.execute("analyze");
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          stream_event_pkey,         event_type, e,    ,
          stream_event_by_tenant,    tenant,    big,   ,
          stream_event_by_tenant,    tenant,    small, event_type, e
          stream_event_by_route,     namespace, ns,    ,
          stream_event_by_route,     namespace, ns,    topic, topic
          stream_event_by_aggregate, aggregate_type, room, aggregate_id, big
          """)
  void readsByIndex(String index, String name, String value, String name2, String value2)
      throws Exception {
    Map<String, String> conditions =
        name2 == null ? Map.of(name, value) : Map.of(name, value, name2, value2);
    String plan = explain(StreamQuery.of(new StreamFilter(conditions), 100, 50, 1 << 20));
    assertThat(plan)
        .doesNotContain("Seq Scan on stream_event", "Seq Scan on message")
        .containsPattern(
            "Index (Only )?Scan using " + index + " on stream_event e.*\\n.*Index Cond")
        .containsPattern("Index Scan using message_\\w+_pkey on message_\\w+ ");
  }

  private static String explain(StreamQuery query) throws Exception {
    try (Connection connection = CHANNEL.database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      // A handful of routes is rightly read from end to end; the log never is.
      statement.execute("set plan_cache_mode = force_generic_plan");
      List<String> lines =
          Database.Session.on(connection, Schema.DEFAULT)
              .list(
                  "explain " + query.sql(),
                  row -> row.getString(1),
                  query.arguments().toArray(new Object[0]));
      return String.join("\n", lines);
    }
  }
}
