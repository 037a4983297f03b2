package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Section;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.kafka.KafkaConfig;
import dev.postrider.kafka.KafkaDestination;
import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** {@code kafka}: an idempotent producer. */
final class KafkaType implements DestinationType {
  /** How the module begins what it says of a property of the client. */
  private static final Pattern PROPERTY = Pattern.compile("property (\\S+?):? (.*)");

  @Override
  public String name() {
    return "kafka";
  }

  @Override
  public Opener read(Section section, DestinationOptions options) {
    List<String> servers = section.texts("bootstrap-servers");
    if (servers.isEmpty()) {
      section.problem("bootstrap-servers", "missing; it is mandatory, such as [kafka1:9092]");
    }
    Duration delivery =
        section.duration(
            "delivery-timeout",
            Duration.ofSeconds(20),
            Duration.ofSeconds(1),
            Duration.ofMinutes(10));
    Checks.shorterThanTimeout(section, "delivery-timeout", delivery, options);
    KafkaConfig.Builder config =
        KafkaConfig.builder(servers.isEmpty() ? "none:1" : String.join(",", servers))
            .topic(Checks.template(section, "topic", "{namespace}.{topic}"))
            .envelope(Checks.envelope(section, Checks.EnvelopeName.PAYLOAD))
            .deliveryTimeout(delivery)
            .maxBlock(
                section.duration(
                    "max-block",
                    Duration.ofSeconds(2),
                    Duration.ofMillis(10),
                    Duration.ofSeconds(10)))
            .bufferMemory(section.size("buffer-memory", 64 << 20, 1 << 20, 1 << 30))
            .deadAtOnce(section.texts("dead-at-once").toArray(String[]::new))
            .properties(section.properties("properties", '.'));
    @Nullable KafkaConfig made = made(section, config);
    return (dataSource, schema) -> KafkaDestination.open(Objects.requireNonNull(made));
  }

  /** What the module finds wrong, each at the key that it is about. */
  private static @Nullable KafkaConfig made(Section section, KafkaConfig.Builder config) {
    try {
      return config.build();
    } catch (PostriderException e) {
      String all = String.valueOf(e.getMessage()).replaceFirst("^kafka: ", "");
      for (String wrong : all.split("; ", -1)) {
        note(section, wrong);
      }
      return null;
    }
  }

  private static void note(Section section, String wrong) {
    Matcher property = PROPERTY.matcher(wrong);
    if (property.matches()) {
      String text = inYaml(property.group(2));
      section.section("properties").problem(property.group(1), text);
    } else if (wrong.startsWith("bootstrapServers: ")) {
      section.problem("bootstrap-servers", wrong.substring("bootstrapServers: ".length()));
    } else if (wrong.startsWith("deadAtOnce: ")) {
      section.problem("dead-at-once", wrong.substring("deadAtOnce: ".length()));
    } else {
      section.problem("", inYaml(wrong));
    }
  }

  private static final Map<String, String> NAMES =
      Map.of(
          "give it to builder()", "use bootstrap-servers",
          "deliveryTimeout()", "delivery-timeout",
          "maxBlock()", "max-block",
          "bufferMemory()", "buffer-memory",
          "deliveryTimeout", "delivery-timeout");

  /** The module speaks of its methods. */
  private static String inYaml(String text) {
    return NAMES.keySet().stream()
        .sorted((a, b) -> b.length() - a.length())
        .reduce(text, (said, name) -> said.replace(name, NAMES.getOrDefault(name, name)));
  }
}
