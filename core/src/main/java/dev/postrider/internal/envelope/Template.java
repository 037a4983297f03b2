package dev.postrider.internal.envelope;

import dev.postrider.message.Message;
import dev.postrider.message.PostriderException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Text with fields of the message in braces, such as <code>{aggregate_type}.{event_type}</code>,
 * for routing keys and topic names. Thread-safe.
 */
public final class Template {
  private static final Pattern FIELD = Pattern.compile("\\{([^{}]*)}");
  private static final Map<String, Function<Message, @Nullable String>> FIELDS =
      new TreeMap<>(
          Map.of(
              "namespace", message -> message.route().namespace(),
              "topic", message -> message.route().topic(),
              "key", Message::key,
              "tenant", Message::tenant,
              "group", message -> Tenant.of(message.tenant()).group(),
              "subsidiary", message -> Tenant.of(message.tenant()).subsidiary(),
              "aggregate_type", Message::aggregateType,
              "aggregate_id", Message::aggregateId,
              "event_type", Message::eventType));

  private final String text;
  private final boolean fixed;
  private final List<Function<Message, @Nullable String>> parts = new ArrayList<>();

  private Template(String text) {
    this.text = text;
    this.fixed = text.indexOf('{') < 0;
    Matcher matcher = FIELD.matcher(text);
    int end = 0;
    while (matcher.find()) {
      literal(text.substring(end, matcher.start()));
      parts.add(field(matcher.group(1)));
      end = matcher.end();
    }
    literal(text.substring(end));
  }

  /** Fails on a field that does not exist. */
  public static Template of(String text) {
    return new Template(text);
  }

  private void literal(String literal) {
    if (literal.indexOf('{') >= 0 || literal.indexOf('}') >= 0) {
      throw new PostriderException("template \"" + text + "\": a brace has no partner");
    }
    if (!literal.isEmpty()) {
      parts.add(message -> literal);
    }
  }

  private Function<Message, @Nullable String> field(String name) {
    Function<Message, @Nullable String> field = FIELDS.get(name);
    if (field == null) {
      throw new PostriderException(
          "template \""
              + text
              + "\": no field is called {"
              + name
              + "}; expected one of "
              + names());
    }
    return message -> {
      String value = field.apply(message);
      if (value == null) {
        throw new PostriderException(
            "message " + message.id() + " has no " + name + ", which \"" + text + "\" needs");
      }
      return value;
    };
  }

  private static String names() {
    return String.join(", ", FIELDS.keySet());
  }

  /** Whether it is the same for every message. */
  public boolean isFixed() {
    return fixed;
  }

  /** Fails on a message that lacks a field. */
  public String fill(Message message) {
    if (parts.size() == 1) {
      return String.valueOf(parts.get(0).apply(message));
    }
    StringBuilder out = new StringBuilder();
    parts.forEach(part -> out.append(part.apply(message)));
    return out.toString();
  }

  @Override
  public String toString() {
    return text;
  }
}
