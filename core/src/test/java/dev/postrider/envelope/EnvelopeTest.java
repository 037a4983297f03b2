package dev.postrider.envelope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.internal.envelope.EventHeaders;
import dev.postrider.internal.envelope.Template;
import dev.postrider.internal.envelope.Tenant;
import dev.postrider.message.Message;
import dev.postrider.message.PostriderException;
import dev.postrider.message.Route;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class EnvelopeTest {
  private static final UUID ID = UUID.fromString("01890a5d-ac96-774b-bcce-b302099a8057");
  private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private static Message order(@Nullable String tenant, String contentType, String payload) {
    return new Message(
        ID,
        new Route("shop", "orders"),
        "order-7",
        3,
        null,
        tenant,
        "order",
        "7",
        "placed",
        contentType,
        contentType.contains("json"),
        Map.of(
            "traceparent",
            TRACE,
            "x-group-id",
            "forged",
            "X-Subsidiary-Id",
            "forged",
            "ce-tenant",
            "forged",
            "Ce_id",
            "forged",
            "cloudEvents:type",
            "forged",
            "cloudEvents_type",
            "forged",
            "Content-Type",
            "forged"),
        payload.getBytes(StandardCharsets.UTF_8),
        Instant.parse("2026-11-16T10:00:00.123Z"),
        2,
        1,
        99);
  }

  private static Message bare() {
    return new Message(
        ID,
        new Route("shop", "orders"),
        null,
        0,
        null,
        null,
        null,
        null,
        null,
        Message.JSON,
        true,
        Map.of(),
        "{}".getBytes(StandardCharsets.UTF_8),
        Instant.EPOCH,
        1,
        1,
        1);
  }

  private static String body(Envelope envelope, Message message) {
    return new String(envelope.seal(message).body(), StandardCharsets.UTF_8);
  }

  @Test
  @Tag("HE-5")
  void theStandardEnvelopeNamesTheEventItsTenantAndItsTime() {
    Message order = order("acme/north", Message.JSON, "{\"total\": 12}");
    assertThat(body(Envelope.standard(), order))
        .isEqualTo(
            """
            {"event_id":"%s","occurred_at":"2026-11-16T10:00:00.123Z","aggregate_type":"order",\
            "aggregate_id":"7","event_type":"placed","group_id":"acme","subsidiary_id":"north",\
            "payload":{"total": 12}}"""
                .formatted(ID));
    assertThat(Envelope.standard().seal(order).contentType()).isEqualTo("application/json");
  }

  @Test
  @Tag("HE-1")
  void aTenantWithoutASubsidiaryIsTheGroup() {
    assertThat(body(Envelope.standard(), order("acme", Message.JSON, "1")))
        .contains("\"group_id\":\"acme\",\"subsidiary_id\":null");
    assertThat(Tenant.of("acme/north/2")).isEqualTo(new Tenant("acme", "north/2"));
    assertThat(Tenant.of(null)).isEqualTo(new Tenant(null, null));
  }

  @Test
  @Tag("HE-5")
  void payloadsThatAreNotJsonStayReadable() {
    assertThat(body(Envelope.standard(), order("a", "text/plain", "say \"hi\"\n")))
        .endsWith("\"payload\":\"say \\\"hi\\\"\\n\"}");
    assertThat(body(Envelope.standard(), order("a", "application/octet-stream", "\u0001x")))
        .endsWith("\"payload_base64\":\"AXg=\"}");
    assertThat(body(Envelope.standard(), order("a", "application/vnd.x+json; charset=utf-8", "[]")))
        .endsWith("\"payload\":[]}");
  }

  @Test
  void thePayloadEnvelopeChangesNothing() {
    Message order = order("a", "text/csv", "1,2");
    assertThat(Envelope.payload().seal(order))
        .isEqualTo(new Sealed("text/csv", order.payload(), Map.of()));
  }

  @Test
  void binaryCloudEventsKeepThePayloadAndCarryAttributes() {
    Sealed sealed = Envelope.cloudEventsBinary("/shop").seal(order("acme", "text/csv", "1,2"));
    assertThat(sealed.contentType()).isEqualTo("text/csv");
    assertThat(new String(sealed.body(), StandardCharsets.UTF_8)).isEqualTo("1,2");
    assertThat(sealed.attributes())
        .containsEntry("specversion", "1.0")
        .containsEntry("id", ID.toString())
        .containsEntry("source", "/shop")
        .containsEntry("type", "placed")
        .containsEntry("subject", "7")
        .containsEntry("time", "2026-11-16T10:00:00.123Z")
        .containsEntry("partitionkey", "order-7")
        .containsEntry("sequence", "0000000000000000003")
        .containsEntry("traceparent", TRACE);
  }

  @Test
  void structuredCloudEventsAreOneObject() {
    Sealed sealed = Envelope.cloudEventsStructured("/shop").seal(bare());
    assertThat(sealed.contentType()).isEqualTo("application/cloudevents+json");
    assertThat(sealed.attributes()).isEmpty();
    assertThat(new String(sealed.body(), StandardCharsets.UTF_8))
        .isEqualTo(
            """
            {"specversion":"1.0","id":"%s","source":"/shop","type":"orders",\
            "time":"1970-01-01T00:00:00Z","datacontenttype":"application/json","data":{}}"""
                .formatted(ID));
  }

  @Test
  void envelopesHaveNames() {
    assertThat(body(Envelope.named("payload", "/shop"), bare())).isEqualTo("{}");
    assertThatThrownBy(() -> Envelope.named("xml", "/shop"))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("\"xml\"")
        .hasMessageContaining("cloudevents-binary");
    assertThatThrownBy(() -> Envelope.named("cloudevents-binary", "my shop"))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("URI reference");
  }

  @Test
  @Tag("HE-4")
  void headersSayWhoseEventItIsWhateverTheProducerClaims() {
    assertThat(EventHeaders.of(order("acme", Message.JSON, "{}")))
        .containsEntry("traceparent", TRACE)
        .containsEntry("x-event-id", ID.toString())
        .containsEntry("x-aggregate-type", "order")
        .containsEntry("x-aggregate-id", "7")
        .containsEntry("x-event-type", "placed")
        .containsEntry("x-group-id", "acme")
        .doesNotContainValue("forged")
        .containsEntry("x-sequence", "3")
        .containsEntry("x-attempts", "2")
        .containsEntry("x-fencing-token", "99");
  }

  @Test
  @Tag("HE-2")
  void templatesAreFilledFromTheMessage() {
    Message order = order("acme/north", Message.JSON, "{}");
    assertThat(Template.of("{aggregate_type}.{event_type}").fill(order)).isEqualTo("order.placed");
    assertThat(Template.of("{group}-{subsidiary}-{namespace}").fill(order))
        .isEqualTo("acme-north-shop");
    assertThat(Template.of("fixed").fill(bare())).isEqualTo("fixed");
    assertThatThrownBy(() -> Template.of("{event_type}").fill(bare()))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("has no event_type");
    assertThatThrownBy(() -> Template.of("{type}"))
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("{type}")
        .hasMessageContaining("aggregate_type");
    assertThatThrownBy(() -> Template.of("{topic")).hasMessageContaining("brace");
  }
}
