package dev.postrider.envelope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.internal.stream.StreamEvent;
import dev.postrider.internal.stream.StreamFilter;
import dev.postrider.internal.stream.StreamLog;
import dev.postrider.lease.LeaseOptions;
import dev.postrider.lease.LeaseStore;
import dev.postrider.message.Message;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A producer that tries to write the fields of the object that its payload is put into. */
@Timeout(60)
class ForgeryTest {
  private static final String VICTIM = "00000000-0000-7000-8000-000000000000";

  /** What ends the payload's value and goes on with fields of the object around it. */
  private static final List<String> PAYLOADS =
      List.of(
          "null,\"tenant\":\"victim\",\"group_id\":\"victim\",\"event_id\":\"%1$s\",\"id\":\"%1$s\","
              + "\"type\":\"forged\",\"event_type\":\"forged\"",
          "{}}\n{\"event_id\":\"%1$s\",\"tenant\":\"victim\",\"payload\":{}",
          "1} {",
          "{\"a\":1",
          "\uFEFFnull",
          "");

  private static final List<String> JSON_TYPES =
      List.of(
          "application/json",
          "application/x_y+json",
          "application/json\t;a",
          "application/json\n",
          "application/json \u000b; charset=utf-8",
          "APPLICATION/JSON",
          "application/vnd.a!b#c$d&e^f.g+json;v=1",
          "application/+json",
          "text/json",
          "text/x+json",
          "image/svg+json");

  private static final List<String> OTHER_TYPES =
      List.of(
          "application/json\u00a0;a",
          "application/json\u2028",
          "application/json,text/plain",
          "application/json/x",
          "application/j\u017fon", // a long s, whose capital is S
          "x;application/json",
          "application/a;b/+json",
          ";json",
          "json",
          "+json",
          "text/plain",
          "text/plain;application/x+json",
          "application/octet-stream");

  private final TestDatabase database = TestDatabase.create();
  @AutoClose private final Connection connection = database.dataSource().getConnection();

  ForgeryTest() throws SQLException {}

  /** The ways into the outbox, as statements of content type and payload in base64. */
  private static final List<String> WAYS =
      List.of(
          """
          select (postrider.enqueue('shop', 'orders', payload_bytes => decode($2, 'base64'),
            content_type => $1, tenant => 'own', event_type => 'sent')).id
          """,
          """
          select (postrider.enqueue('shop', 'orders', convert_from(decode($2, 'base64'), 'UTF8'),
            content_type => $1, tenant => 'own', event_type => 'sent', key => 'k')).id
          """,
          """
          select id from postrider.enqueue_batch(json_build_array(json_build_object(
            'namespace', 'shop', 'topic', 'orders', 'payload_base64', $2::text,
            'content_type', $1::text, 'tenant', 'own', 'event_type', 'sent')))
          """,
          """
          select id from postrider.enqueue_batch(json_build_array(json_build_object(
            'namespace', 'shop', 'topic', 'orders',
            'payload', convert_from(decode($2, 'base64'), 'UTF8'),
            'content_type', $1::text, 'tenant', 'own', 'event_type', 'sent')))
          """);

  private void enqueue(String way, String contentType, String payload) throws SQLException {
    try (PreparedStatement call =
        connection.prepareStatement(
            "with given(t, p) as (values (?::text, ?::text)) "
                + way.replace("$1", "(select t from given)")
                    .replace("$2", "(select p from given)"))) {
      call.setString(1, contentType);
      call.setString(
          2, Base64.getEncoder().encodeToString(payload.getBytes(StandardCharsets.UTF_8)));
      call.executeQuery();
    }
  }

  private boolean accepted(String way, String contentType, String payload) throws SQLException {
    try {
      enqueue(way, contentType, payload);
      return true;
    } catch (SQLException e) {
      assertThat(e.getSQLState()).isEqualTo("PR001");
      return false;
    }
  }

  private static Stream<String> payloads() {
    return PAYLOADS.stream().map(payload -> payload.formatted(VICTIM));
  }

  @Test
  @Tag("EN-4")
  void aPayloadThatSaysItIsJsonAndIsNotIsRefused() {
    for (String way : WAYS) {
      for (String type : JSON_TYPES) {
        assertThat(payloads())
            .allSatisfy(
                payload ->
                    assertThatThrownBy(() -> enqueue(way, type, payload))
                        .as("%s as %s by %s", payload, type, way)
                        .hasMessageContaining("not valid JSON"));
      }
    }
    assertThat(database.count("select count(*) from postrider.message")).isZero();
  }

  @Test
  @Tag("HE-5")
  @Tag("CH-5")
  void noPayloadWritesAFieldOfWhatIsAroundIt() throws Exception {
    int sent = 0;
    for (String way : WAYS) {
      for (String type : Stream.concat(JSON_TYPES.stream(), OTHER_TYPES.stream()).toList()) {
        enqueue(way, type, " {\"tenant\":\"victim\"}\n");
        sent++;
        for (String payload : payloads().toList()) {
          sent += accepted(way, type, payload) ? 1 : 0;
        }
      }
    }
    assertThat(sent).isGreaterThan(WAYS.size() * OTHER_TYPES.size() * PAYLOADS.size());
    List<byte[]> objects = new ArrayList<>();
    for (Message message : claimed(sent)) {
      objects.add(Envelope.standard().seal(message).body());
      objects.add(Envelope.cloudEventsStructured("/shop").seal(message).body());
    }
    for (StreamEvent event : streamed()) {
      objects.add(event.json(true));
      assertThat(new String(event.json(true), StandardCharsets.UTF_8)).doesNotContain("\n", "\r");
    }
    assertThat(objects).hasSize(3 * sent);
    assertThat(facts(objects)).containsExactly("own 1 sent 1 1");
  }

  @ParameterizedTest
  @ValueSource(ints = {15, 18})
  @Tag("EN-15")
  void whatIsJsonIsDecidedOnceAndStored(int version) {
    TestDatabase own = TestDatabase.create(version);
    own.execute(
        """
        select postrider.enqueue('s', 't', '1');
        select postrider.enqueue('s', 't', '1', key => 'k');
        select postrider.enqueue('s', 't', '1', key => 'k', dedupe_key => 'd');
        select postrider.try_enqueue_plain('s', 't', '1');
        select postrider.try_enqueue_keyed('s', 't', '1', 'k');
        select postrider.try_enqueue_once('s', 't', '1', 'k', 'd2');
        select postrider.enqueue_batch('[{"namespace": "s", "topic": "t", "payload": 1}]');
        """);
    assertThat(own.column("select distinct is_json from postrider.message")).containsExactly("t");
    own.execute("select postrider.enqueue('s', 't', '1', content_type => 'text/plain')");
    assertThat(own.count("select count(*) from postrider.message where not is_json")).isOne();
  }

  private List<Message> claimed(int sent) {
    LeaseStore store =
        new LeaseStore(database.dataSource(), Schema.DEFAULT, "forger", LeaseOptions.DEFAULT);
    List<Message> messages = new ArrayList<>();
    while (messages.size() < sent) {
      store.claim("shop", 1000, Duration.ofMinutes(1)).forEach(messages::add);
    }
    return messages;
  }

  private List<StreamEvent> streamed() throws SQLException {
    database.column(
        """
        select a.id from (select array_agg(id) as ids, array_agg(1::smallint) as deliveries
                            from postrider.message) m
         cross join lateral postrider.stream_append(m.ids, m.deliveries) a
        """);
    return new StreamLog(database.dataSource(), Schema.DEFAULT)
        .after(0, StreamFilter.ALL, 1000)
        .events();
  }

  /**
   * What a strict reader finds in the objects: tenant, how many tenants, type, how many types, how
   * many ids that are a message's. Fields that an object has twice count twice.
   */
  private List<String> facts(List<byte[]> objects) throws SQLException {
    try (PreparedStatement read =
        connection.prepareStatement(
            """
                select distinct concat_ws(' ', f.tenant, f.tenants, f.type, f.types, f.ids)
                  from unnest(?::text[]) o(json) cross join lateral (
                    select max(e.value) filter (where e.key in ('tenant', 'group_id')) as tenant,
                           count(*) filter (where e.key in ('tenant', 'group_id')) as tenants,
                           max(e.value) filter (where e.key in ('type', 'event_type')) as type,
                           count(*) filter (where e.key in ('type', 'event_type')) as types,
                           count(*) filter (where e.key in ('id', 'event_id') and exists (
                             select from postrider.message m where m.id = e.value::uuid)) as ids
                      from json_each_text(o.json::json) e) f
                """)) {
      read.setArray(
          1,
          connection.createArrayOf(
              "text",
              objects.stream().map(json -> new String(json, StandardCharsets.UTF_8)).toArray()));
      List<String> facts = new ArrayList<>();
      try (ResultSet rows = read.executeQuery()) {
        while (rows.next()) {
          facts.add(rows.getString(1));
        }
      }
      return facts;
    }
  }
}
