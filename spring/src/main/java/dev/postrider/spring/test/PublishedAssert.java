package dev.postrider.spring.test;

import dev.postrider.message.JsonCodec;
import dev.postrider.message.NewMessage;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.assertj.core.api.AbstractAssert;

/** Assertions on some of the messages that a test published. Each one narrows them. */
public final class PublishedAssert extends AbstractAssert<PublishedAssert, List<NewMessage>> {
  private final TestOutbox outbox;
  private final String said;

  PublishedAssert(TestOutbox outbox, List<NewMessage> actual, String said) {
    super(actual, PublishedAssert.class);
    this.outbox = outbox;
    this.said = said;
  }

  /** With this ordering key. */
  public PublishedAssert withKey(String key) {
    return narrowed("key \"" + key + "\"", message -> key.equals(message.key()));
  }

  /** With this event type. */
  public PublishedAssert withEventType(String type) {
    return narrowed("event type \"" + type + "\"", message -> type.equals(message.eventType()));
  }

  /** With this header. */
  public PublishedAssert withHeader(String name, String value) {
    return narrowed(
        "header " + name + "=" + value,
        message -> Objects.equals(value, message.headers().get(name)));
  }

  /** With a payload that equals this object, or with this text if it is a string. */
  public PublishedAssert withPayload(Object payload) {
    return narrowed("payload " + payload, message -> same(payload, message));
  }

  /** So many messages, no more and no fewer. */
  public PublishedAssert times(int count) {
    if (actual.size() != count) {
      fail("expected %d published messages %s, got %d".formatted(count, said, actual.size()));
    }
    return this;
  }

  /** One message, and no other. */
  public PublishedAssert once() {
    return times(1);
  }

  void atLeastOne() {
    if (actual.isEmpty()) {
      fail("expected a published message " + said);
    }
  }

  private void fail(String expected) {
    failWithMessage("%s. Published were:%s", expected, list(outbox));
  }

  private PublishedAssert narrowed(String with, Predicate<NewMessage> condition) {
    PublishedAssert narrowed =
        new PublishedAssert(
            outbox, actual.stream().filter(condition).toList(), said + " with " + with);
    narrowed.atLeastOne();
    return narrowed;
  }

  private boolean same(Object payload, NewMessage message) {
    if (payload.equals(message.content())) {
      return true;
    }
    String text = text(message);
    if (payload instanceof String expected) {
      return expected.equals(text);
    }
    JsonCodec codec = outbox.codec();
    try {
      return codec != null && codec.write(payload).equals(text);
    } catch (Exception e) {
      return false;
    }
  }

  private String text(NewMessage message) {
    return new String(outbox.encoded(message).payload(), StandardCharsets.UTF_8);
  }

  static String list(TestOutbox outbox) {
    List<NewMessage> all = outbox.messages();
    return all.isEmpty()
        ? " none"
        : all.stream()
            .map(
                message ->
                    "\n  %s key=%s event_type=%s headers=%s payload=%s"
                        .formatted(
                            message.route(),
                            message.key(),
                            message.eventType(),
                            message.headers(),
                            new String(outbox.encoded(message).payload(), StandardCharsets.UTF_8)))
            .collect(Collectors.joining());
  }
}
