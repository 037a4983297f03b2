package dev.postrider.spring.test;

import dev.postrider.message.NewMessage;
import java.util.List;
import org.assertj.core.api.AbstractAssert;

/** Assertions on the messages that a test published. */
public final class TestOutboxAssert extends AbstractAssert<TestOutboxAssert, TestOutbox> {
  TestOutboxAssert(TestOutbox actual) {
    super(actual, TestOutboxAssert.class);
  }

  /** At least one message was published to this topic. More can be said of those messages. */
  public PublishedAssert published(String namespace, String topic) {
    List<NewMessage> found =
        actual.messages().stream()
            .filter(
                message ->
                    message.route().namespace().equals(namespace)
                        && message.route().topic().equals(topic))
            .toList();
    PublishedAssert narrowed = new PublishedAssert(actual, found, "to " + namespace + "/" + topic);
    narrowed.atLeastOne();
    return narrowed;
  }

  /** Nothing was published. */
  public TestOutboxAssert publishedNothing() {
    if (!actual.messages().isEmpty()) {
      failWithMessage(
          "expected no published message, but there are:%s", PublishedAssert.list(actual));
    }
    return this;
  }

  /** Nothing was published to this topic. */
  public TestOutboxAssert publishedNothing(String namespace, String topic) {
    boolean any =
        actual.messages().stream()
            .anyMatch(
                message ->
                    message.route().namespace().equals(namespace)
                        && message.route().topic().equals(topic));
    if (any) {
      failWithMessage(
          "expected no published message to %s/%s, but there are:%s",
          namespace, topic, PublishedAssert.list(actual));
    }
    return this;
  }
}
