package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Section;
import dev.postrider.cli.settings.Units;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.envelope.Envelope;
import dev.postrider.internal.envelope.Template;
import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Settings that several kinds have. What is wrong is noted at its key. */
final class Checks {
  /** Envelopes by the names that they have in a configuration. */
  enum EnvelopeName {
    PAYLOAD,
    STANDARD,
    CLOUDEVENTS_BINARY,
    CLOUDEVENTS_STRUCTURED
  }

  private Checks() {}

  /** What is made; null, after noting why at the key, if it cannot be. */
  static <T> @Nullable T made(Section section, String key, Supplier<T> maker) {
    try {
      return maker.get();
    } catch (PostriderException e) {
      section.problem(key, String.valueOf(e.getMessage()));
      return null;
    }
  }

  static String template(Section section, String key, String usual) {
    String text = section.text(key, usual);
    return made(section, key, () -> Template.of(text)) == null ? usual : text;
  }

  static Envelope envelope(Section section, EnvelopeName usual) {
    EnvelopeName name = section.choice("envelope", usual);
    @Nullable String source = section.text("source");
    return switch (name) {
      case PAYLOAD -> Envelope.payload();
      case STANDARD -> Envelope.standard();
      case CLOUDEVENTS_BINARY, CLOUDEVENTS_STRUCTURED -> cloudEvents(section, name, source);
    };
  }

  private static Envelope cloudEvents(Section section, EnvelopeName name, @Nullable String source) {
    if (source == null) {
      section.problem("source", "missing; CloudEvents need it, such as /shop");
      return Envelope.payload();
    }
    @Nullable Envelope made =
        made(
            section,
            "source",
            () ->
                name == EnvelopeName.CLOUDEVENTS_BINARY
                    ? Envelope.cloudEventsBinary(source)
                    : Envelope.cloudEventsStructured(source));
    return made == null ? Envelope.payload() : made;
  }

  /**
   * Two clocks run for each message: the destination's own has to end first, or the message is sent
   * again while it is still under way.
   */
  static void shorterThanTimeout(
      Section section, String key, Duration value, DestinationOptions options) {
    if (value.compareTo(options.timeout()) >= 0) {
      section.problem(
          key,
          "expected less than the destination's timeout of %s, got %s"
              .formatted(Units.text(options.timeout()), Units.text(value)));
    }
  }
}
