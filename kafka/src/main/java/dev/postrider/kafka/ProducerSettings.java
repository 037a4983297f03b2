package dev.postrider.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The settings of Kafka's producer: ours, the user's, and which of the user's are refused. */
final class ProducerSettings {
  static final String BOOTSTRAP = ProducerConfig.BOOTSTRAP_SERVERS_CONFIG;

  private static final Pattern SERVER = Pattern.compile("[^\\s,/]+:\\d{1,5}");

  /** Properties that have an option of their own, or that are ours alone. */
  private static final Map<String, String> REFUSED =
      Map.of(
          BOOTSTRAP,
          "give it to builder()",
          ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
          "use deliveryTimeout()",
          ProducerConfig.MAX_BLOCK_MS_CONFIG,
          "use maxBlock()",
          ProducerConfig.BUFFER_MEMORY_CONFIG,
          "use bufferMemory()",
          ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
          "keys are bytes already",
          ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
          "bodies are bytes already",
          ProducerConfig.TRANSACTIONAL_ID_CONFIG,
          "records are not sent in Kafka transactions");

  /** What these must look like, so that no record is lost and no key's order is. */
  private static final Map<String, Rule> SAFE =
      Map.of(
          ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, new Rule("true", "(?i)true"),
          ProducerConfig.ACKS_CONFIG, new Rule("all", "all|-1"),
          ProducerConfig.RETRIES_CONFIG, new Rule("at least 1", "0*[1-9]\\d*"),
          ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, new Rule("1 to 5", "[1-5]"),
          ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG, new Rule("false", "(?i)false"),
          ProducerConfig.PARTITIONER_CLASS_CONFIG,
              new Rule(
                  "one that keeps a key on its partition",
                  "(?!" + Pattern.quote(RoundRobinPartitioner.class.getName()) + "$).*"));

  private record Rule(String expected, String pattern) {}

  private ProducerSettings() {}

  static Map<String, String> of(KafkaConfig.Builder builder, List<String> wrong) {
    servers(builder.bootstrapServers, wrong);
    range("deliveryTimeout", builder.deliveryTimeout, 1_000, 600_000, wrong);
    range("maxBlock", builder.maxBlock, 10, 10_000, wrong);
    if (builder.bufferMemory < 1 << 20 || builder.bufferMemory > 1 << 30) {
      wrong.add("bufferMemory: expected 1 MiB to 1 GiB, got " + builder.bufferMemory);
    }
    builder.properties.forEach((name, value) -> safe(name, value.strip(), wrong));
    Map<String, String> all = ours(builder);
    builder.properties.keySet().stream()
        .filter(name -> !REFUSED.containsKey(name))
        .forEach(name -> all.put(name, builder.properties.getOrDefault(name, "")));
    if (wrong.isEmpty()) {
      valid(all, wrong);
    }
    return all;
  }

  private static Map<String, String> ours(KafkaConfig.Builder builder) {
    long deliveryMs = builder.deliveryTimeout.toMillis();
    Map<String, String> all = new TreeMap<>();
    all.put(BOOTSTRAP, builder.bootstrapServers);
    all.put(ProducerConfig.ACKS_CONFIG, "all");
    all.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
    all.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
    all.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
    all.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Long.toString(deliveryMs));
    // Time for a second try on another broker.
    all.put(
        ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, Long.toString(Math.min(deliveryMs / 2, 30_000)));
    all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, Long.toString(builder.maxBlock.toMillis()));
    all.put(ProducerConfig.BUFFER_MEMORY_CONFIG, Long.toString(builder.bufferMemory));
    // Room for the engine's largest message and its headers: the topic's own limit decides.
    all.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(2 << 20));
    all.put(ProducerConfig.BATCH_SIZE_CONFIG, Integer.toString(64 << 10));
    // The dispatcher hands over in batches: waiting for more would only delay a key's next message.
    all.put(ProducerConfig.LINGER_MS_CONFIG, "0");
    return all;
  }

  private static void servers(String servers, List<String> wrong) {
    for (String server : servers.split(",", -1)) {
      if (!SERVER.matcher(server.strip()).matches()) {
        wrong.add("bootstrapServers: expected host:port, got \"" + server.strip() + "\"");
      }
    }
  }

  private static void range(
      String name, Duration value, long leastMs, long mostMs, List<String> wrong) {
    if (value.toMillis() < leastMs || value.toMillis() > mostMs) {
      wrong.add(
          "%s: expected %d ms to %d ms, got %d ms"
              .formatted(name, leastMs, mostMs, value.toMillis()));
    }
  }

  private static void safe(String name, String value, List<String> wrong) {
    String instead = REFUSED.get(name);
    if (instead != null) {
      wrong.add("property " + name + " is not yours to set: " + instead);
    }
    Rule rule = SAFE.get(name);
    if (rule != null && !value.matches(rule.pattern())) {
      wrong.add("property " + name + ": expected " + rule.expected() + ", got \"" + value + "\"");
    }
  }

  /** What Kafka says to it, and the one rule that it checks only when a producer is made. */
  private static void valid(Map<String, String> all, List<String> wrong) {
    for (ConfigValue value : ProducerConfig.configDef().validateAll(all).values()) {
      for (String error : value.errorMessages()) {
        wrong.add("property " + value.name() + ": " + new SecretMask(all).scrub(error));
      }
    }
    if (!wrong.isEmpty()) {
      return;
    }
    long delivery = number(all, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
    long request = number(all, ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
    long linger = number(all, ProducerConfig.LINGER_MS_CONFIG);
    if (request + linger > delivery) {
      wrong.add(
          "deliveryTimeout: expected at least linger.ms + request.timeout.ms = %d ms, got %d ms"
              .formatted(request + linger, delivery));
    }
  }

  /**
   * For a producer of whole runs: with one request in flight, no record is on its way behind one
   * that fails.
   *
   * @param number of how many such producers, which share as much memory as the ordinary one has
   */
  static Map<String, String> forRuns(Map<String, String> settings, int number, int producers) {
    Map<String, String> all = new TreeMap<>(settings);
    all.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");
    all.put(
        ProducerConfig.CLIENT_ID_CONFIG,
        settings.get(ProducerConfig.CLIENT_ID_CONFIG) + "-run-" + (number + 1));
    all.put(ProducerConfig.BUFFER_MEMORY_CONFIG, Long.toString(memoryForRuns(settings, producers)));
    return all;
  }

  /** The memory of each of so many producers of runs. */
  static long memoryForRuns(Map<String, String> settings, int producers) {
    return number(settings, ProducerConfig.BUFFER_MEMORY_CONFIG) / producers;
  }

  /**
   * How many producers of runs there are: fewer than so many if each of them could not take the
   * largest record that the ordinary one takes.
   */
  static int producersOfRuns(Map<String, String> settings, int most) {
    long memory = number(settings, ProducerConfig.BUFFER_MEMORY_CONFIG);
    long largest = Math.max(number(settings, ProducerConfig.MAX_REQUEST_SIZE_CONFIG), 1);
    return (int) Math.max(Math.min(memory / largest, most), 1);
  }

  /** Whether the client chooses a record's partition by its key as it is. */
  static boolean hashesKeys(Map<String, String> settings) {
    return Stream.of(
            ProducerConfig.PARTITIONER_CLASS_CONFIG, ProducerConfig.INTERCEPTOR_CLASSES_CONFIG)
        .allMatch(name -> settings.getOrDefault(name, "").isBlank());
  }

  /** How long the client surely has the metadata of a topic that is not used. */
  static Duration topicKept(Map<String, String> settings) {
    String idle = settings.getOrDefault(ProducerConfig.METADATA_MAX_IDLE_CONFIG, "300000");
    return Duration.ofMillis(Long.parseLong(idle.strip()) / 2);
  }

  private static long number(Map<String, String> all, String name) {
    return Long.parseLong(all.getOrDefault(name, "0").strip());
  }
}
