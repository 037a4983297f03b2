package dev.postrider.server.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.postrider.deadletter.BlockedKey;
import dev.postrider.deadletter.DeadLetter;
import dev.postrider.internal.monitor.AuditLog;
import dev.postrider.internal.monitor.DeadGroup;
import dev.postrider.internal.monitor.LiveRelay;
import dev.postrider.internal.retention.RetentionState;
import dev.postrider.message.ErrorReport;
import dev.postrider.message.Route;
import dev.postrider.observe.Backlog;
import dev.postrider.operations.AttemptRecord;
import dev.postrider.operations.DeliveryStatus;
import dev.postrider.operations.MessageStatus;
import dev.postrider.replay.ReplayJob;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsonFormatVisitors.JsonFormatVisitorWrapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.node.StringNode;

/**
 * JSON in and out: names in snake case, enumerations in lower case, times in ISO 8601, nothing for
 * what is null. Numbers keep all their digits. Thread-safe.
 */
public final class JsonText {
  /** What is read in one go; an object tree may need a hundred times its text. */
  private static final StreamReadConstraints BOUNDS =
      StreamReadConstraints.builder()
          .maxTokenCount(1_000_000)
          .maxNestingDepth(500)
          .maxNumberLength(1_000)
          .maxNameLength(50_000)
          .maxStringLength(256 << 20) // a body may be that long
          .build();

  private static final JsonMapper MAPPER =
      JsonMapper.builder(JsonFactory.builder().streamReadConstraints(BOUNDS).build())
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .changeDefaultPropertyInclusion(
              inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_NULL))
          .enable(EnumFeature.WRITE_ENUMS_TO_LOWERCASE)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .addMixIn(MessageStatus.class, Status.class)
          .addMixIn(DeliveryStatus.class, Delivered.class)
          .addMixIn(AttemptRecord.class, Failed.class)
          .addMixIn(DeadLetter.class, Dead.class)
          .addMixIn(DeadGroup.class, Dead.class)
          .addMixIn(Backlog.Topic.class, WaitingTopic.class)
          .addMixIn(BlockedKey.class, Blocked.class)
          .addMixIn(ReplayJob.class, Job.class)
          .addMixIn(AuditLog.Entry.class, Act.class)
          .addMixIn(LiveRelay.class, Seen.class)
          .addMixIn(RetentionState.class, Kept.class)
          .addModule(new SimpleModule().addSerializer(Duration.class, new InSeconds()))
          .build();

  private static final String PAYLOADS = "payloads";

  private JsonText() {}

  /** A message's namespace and topic stand beside its other fields. */
  interface Routed {
    @JsonUnwrapped
    Route route();
  }

  interface Delivered {
    @JsonSerialize(using = Report.class)
    String lastError();
  }

  interface Status extends Routed, Delivered {}

  interface Failed {
    @JsonSerialize(using = Report.class)
    String error();
  }

  interface Dead extends Routed, Failed {}

  interface WaitingTopic extends Routed {
    @JsonProperty("oldest_age_seconds")
    Duration oldestAge();
  }

  interface Blocked extends Failed {
    @JsonProperty("blocked_seconds")
    Duration blockedFor();
  }

  interface Job {
    @JsonRawValue
    String filter();
  }

  interface Act {
    @JsonRawValue
    String detail();
  }

  interface Seen {
    @JsonProperty("seen_seconds_ago")
    Duration sinceSeen();

    @JsonProperty
    boolean lost();
  }

  interface Kept {
    @JsonProperty("period_seconds")
    Duration period();
  }

  private static final class InSeconds extends ValueSerializer<Duration> {
    @Override
    public void serialize(Duration value, JsonGenerator out, SerializationContext context) {
      out.writeNumber(value.toMillis() / 1000.0);
    }
  }

  /** What receivers said may repeat a payload, and is left out unless payloads may be seen. */
  private static final class Report extends ValueSerializer<String> {
    @Override
    public void serialize(String value, JsonGenerator out, SerializationContext context) {
      boolean whole = Boolean.TRUE.equals(context.getAttribute(PAYLOADS));
      out.writeString(whole ? value : ErrorReport.withoutReply(value));
    }
  }

  /** The type as it is written: the class, or a page or list of it. */
  public static JavaType type(Class<?> raw, Class<?>... of) {
    return MAPPER.getTypeFactory().constructParametricType(raw, of);
  }

  public static JavaType type(Type type) {
    return MAPPER.constructType(type);
  }

  /** Shows the visitor how a type is written. */
  public static void describe(JavaType type, JsonFormatVisitorWrapper visitor) {
    MAPPER.acceptJsonFormatVisitor(type, visitor);
  }

  public static byte[] bytes(Object value) {
    return bytes(value, false);
  }

  /**
   * As JSON, without what receivers said unless payloads may be seen.
   *
   * @param payloads whether it is for somebody who may see payloads
   */
  public static byte[] bytes(Object value, boolean payloads) {
    return MAPPER.writer().withAttribute(PAYLOADS, payloads).writeValueAsBytes(value);
  }

  public static String text(Object value) {
    return MAPPER.writeValueAsString(value);
  }

  /** Any JSON; whatever is wrong with it is one kind of exception. */
  public static JsonNode read(byte[] json) {
    try {
      return MAPPER.readTree(json);
    } catch (NumberFormatException e) { // an exponent that is no int
      throw new StreamReadException("a number is out of range");
    }
  }

  public static JsonNode tree(Object value) {
    return MAPPER.valueToTree(value);
  }

  /** A number or boolean if the text is one, else the text. */
  static JsonNode scalar(String text) {
    try {
      JsonNode node = read(text.getBytes(StandardCharsets.UTF_8));
      return node.isNumber() || node.isBoolean() ? node : StringNode.valueOf(text);
    } catch (JacksonException e) {
      return StringNode.valueOf(text);
    }
  }
}
