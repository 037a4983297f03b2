package dev.postrider.internal.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.RefusedException;
import dev.postrider.message.Route;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Tag("OP-6")
class StreamLogTest {
  private final Channel channel = new Channel();
  private final StreamLog log = channel.log;

  @Test
  void anEmptyLogIsReadFromItsBeginning() throws Exception {
    assertThat(log.latest()).isZero();
    assertThat(log.oldest()).isEqualTo(1);
    assertThat(log.after(0, StreamFilter.ALL, 10)).isEqualTo(new StreamPage(List.of(), 0, 0));
  }

  @Test
  @Tag("CH-3")
  void anEventHasTheMessagesIdAndContent() throws Exception {
    channel.append(
        """
        'chat', 'messages', E'{"text":\n"hi"}', tenant => 'acme', aggregate_type => 'room',
        aggregate_id => '7', event_type => 'said', headers => '{"trace": "ä"}'
        """);
    StreamEvent event = log.after(0, StreamFilter.ALL, 10).events().get(0);
    assertThat(event.id().toString())
        .isEqualTo(channel.database.value("select id from postrider.message"));
    assertThat(event.route()).isEqualTo(new Route("chat", "messages"));
    assertThat(text(event, true))
        .startsWith("{\"event_id\":\"" + event.id() + "\",\"position\":1,\"type\":\"said\",")
        .contains("\"aggregate_type\":\"room\",\"aggregate_id\":\"7\",\"tenant\":\"acme\"")
        .endsWith(
            "\"content_type\":\"application/json\",\"headers\":{\"trace\":\"ä\"},"
                + "\"payload\":{\"text\": \"hi\"}}");
    assertThat(text(event, false)).doesNotContain("hi", "trace").endsWith("\"delivery\":1}");
  }

  @Test
  void bytesAndTextKeepToOneLine() throws Exception {
    channel.append("'a', 'b', E'x\ny', content_type => 'text/plain'");
    channel.append(
        "'a', 'b', payload_bytes => '\\x0a0d', content_type => 'application/octet-stream'");
    channel.append("'a', 'b', E'not\njson', content_type => 'application/json-seq'");
    assertThat(channel.read(0, StreamFilter.ALL, 10))
        .map(event -> text(event, true))
        .noneMatch(line -> line.contains("\n"))
        .satisfiesExactly(
            line -> assertThat(line).endsWith("\"payload\":\"x\\ny\"}"),
            line -> assertThat(line).endsWith("\"payload_base64\":\"Cg0=\"}"),
            line -> assertThat(line).endsWith("\"payload_base64\":\"bm90Cmpzb24=\"}"));
  }

  @Test
  void eachFilterFindsItsOwnAcrossPages() throws Exception {
    channel.appendMany(
        90,
        """
        'ns' || i % 2, 'topic' || i % 3, '{}', tenant => 'tenant' || i % 5,
        aggregate_type => 'room', aggregate_id => (i % 3)::text, event_type => 'e' || i % 2
        """);
    expect(Map.of(), i -> true);
    expect(Map.of("tenant", "tenant2"), i -> i % 5 == 2);
    expect(Map.of("namespace", "ns1"), i -> i % 2 == 1);
    expect(Map.of("namespace", "ns1", "topic", "topic0"), i -> i % 2 == 1 && i % 3 == 0);
    expect(Map.of("aggregate_type", "room", "aggregate_id", "1"), i -> i % 3 == 1);
    expect(Map.of("event_type", "e0"), i -> i % 2 == 0);
    expect(
        Map.of("tenant", "tenant0", "namespace", "ns0", "topic", "topic0"),
        i -> i % 5 == 0 && i % 2 == 0 && i % 3 == 0);
    expect(
        Map.of("aggregate_type", "room", "aggregate_id", "1", "tenant", "tenant4"),
        i -> i % 3 == 1 && i % 5 == 4);
    expect(Map.of("tenant", "nobody"), i -> false);
    expect(Map.of("namespace", "nowhere"), i -> false);
  }

  private void expect(Map<String, String> conditions, java.util.function.LongPredicate wanted)
      throws Exception {
    StreamFilter filter = new StreamFilter(conditions);
    List<StreamEvent> events = channel.read(0, filter, 4);
    assertThat(events)
        .as("%s", conditions)
        .map(StreamEvent::position)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, 90).filter(wanted).boxed().toList());
    assertThat(events).allMatch(filter::matches);
    assertThat(log.after(0, filter, 1000).position()).isEqualTo(90);
  }

  @Test
  void aPageEndsWithItsBytes() throws Exception {
    channel.appendMany(5, "'a', 'b', '\"' || repeat('x', 600000) || '\"'");
    StreamPage page = log.after(0, StreamFilter.ALL, 100);
    assertThat(page.events()).hasSize(2);
    assertThat(page.position()).isEqualTo(2);
    assertThat(channel.read(0, StreamFilter.ALL, 100)).hasSize(5);
  }

  @Test
  void aRareEventIsFoundInBoundedSteps() throws Exception {
    channel.appendMany(6000, "'a', 'b', '{}', event_type => 'common'");
    channel.append("'a', 'b', '{}', event_type => 'rare'");
    StreamFilter rare = StreamFilter.ALL.with("event_type", "rare");
    assertThat(log.after(0, rare, 10)).isEqualTo(new StreamPage(List.of(), 5000, 6001));
    assertThat(channel.read(0, rare, 10)).map(StreamEvent::position).containsExactly(6001L);
  }

  @Test
  @Tag("CH-3")
  void whatWasPurgedIsSaidToBeGone() throws Exception {
    channel.appendMany(30, "'a', 'b', '{}'");
    age("position <= 10 or position = 20");
    assertThat(log.purge(Duration.ofHours(2))).isEqualTo(10);
    assertThat(log.oldest()).isEqualTo(11);
    assertThat(channel.read(10, StreamFilter.ALL, 100)).hasSize(20);
    assertThatThrownBy(() -> log.after(9, StreamFilter.ALL.with("tenant", "t"), 100))
        .isInstanceOfSatisfying(
            StreamGoneException.class,
            gone -> {
              assertThat(gone.oldest()).isEqualTo(11);
              assertThat(gone.latest()).isEqualTo(30);
              assertThat(gone).hasMessageContaining("oldest event has position 11");
            });
    assertThatThrownBy(() -> log.after(31, StreamFilter.ALL, 100))
        .isInstanceOf(StreamGoneException.class)
        .hasMessage("position 31 is beyond the log's last one, 30");
  }

  @Test
  void positionsGoOnAfterEverythingIsOld() throws Exception {
    channel.appendMany(25_000, "'a', 'b', '{}'");
    age("true");
    assertThat(log.purge(Duration.ofHours(1))).isEqualTo(24_999);
    assertThat(log.purge(Duration.ofHours(1))).isZero();
    assertThat(channel.append("'a', 'b', '{}'")).isEqualTo(25_001);
    assertThat(channel.read(24_999, StreamFilter.ALL, 10)).hasSize(2);
  }

  private void age(String which) {
    channel.database.execute(
        "update postrider.stream_event set appended_at = now() - interval '3 h' where " + which);
  }

  @Test
  void anArchivedMessageLeavesTheEventWithoutContent() throws Exception {
    channel.append("'a', 'b', '{}'");
    channel.database.execute("delete from postrider.message");
    StreamEvent event = log.after(0, StreamFilter.ALL, 10).events().get(0);
    assertThat(event.content()).isNull();
    assertThat(text(event, true)).endsWith("\"archived\":true}");
  }

  @Test
  void badInputIsRefused() {
    assertThatThrownBy(() -> StreamFilter.ALL.with("color", "red"))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("known are aggregate_id, aggregate_type, event_type, namespace");
    assertThatThrownBy(() -> StreamFilter.ALL.with("topic", "t"))
        .hasMessage("topic is given without namespace; give both");
    assertThatThrownBy(() -> StreamFilter.ALL.with("aggregate_id", "7"))
        .hasMessage("aggregate_id is given without aggregate_type; give both");
    assertThatThrownBy(() -> log.after(0, StreamFilter.ALL, 1001))
        .isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> log.purge(Duration.ofMinutes(59)))
        .hasMessageContaining("at least 1 hour is kept");
  }

  private static String text(StreamEvent event, boolean withContent) {
    return new String(event.json(withContent), StandardCharsets.UTF_8);
  }
}
