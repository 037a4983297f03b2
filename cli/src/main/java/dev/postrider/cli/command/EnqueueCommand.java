package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.enqueue.Outbox;
import dev.postrider.message.Enqueued;
import dev.postrider.message.Message;
import dev.postrider.message.NewMessage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Enqueues one message. */
@Command(
    name = "enqueue",
    description = "Enqueue one message in its own transaction.",
    footer = {
      "  ./postrider enqueue -n shop -t orders -k o-1 -p '{\"order\": \"o-1\"}'",
      "  ./postrider enqueue -n shop -t orders --payload - < order.json"
    })
final class EnqueueCommand extends PostriderCommand {
  /** The most that the database takes at all; read no further. */
  private static final int PAYLOAD_MAX = 64 << 20;

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "TEXT",
      required = true,
      description = "The namespace: usually the service that sends the message.")
  String namespace = "";

  @Option(
      names = {"-t", "--topic"},
      paramLabel = "TEXT",
      required = true,
      description = "The topic.")
  String topic = "";

  @Option(
      names = {"-p", "--payload"},
      required = true,
      paramLabel = "TEXT",
      description = "The payload. Use - to read it from standard input.")
  String payload = "";

  @Option(
      names = {"-k", "--key"},
      paramLabel = "TEXT",
      description = "The ordering key. Messages with the same key are delivered in order.")
  @Nullable String key;

  @Option(
      names = "--dedupe-key",
      paramLabel = "TEXT",
      description = "The topic keeps only the first message with this dedupe key.")
  @Nullable String dedupeKey;

  @Option(names = "--tenant", paramLabel = "TEXT", description = "The tenant.")
  @Nullable String tenant;

  @Option(
      names = "--aggregate-type",
      paramLabel = "TEXT",
      description = "The aggregate type, such as order.")
  @Nullable String aggregateType;

  @Option(
      names = "--aggregate-id",
      paramLabel = "TEXT",
      description = "The aggregate id, such as o-1.")
  @Nullable String aggregateId;

  @Option(
      names = "--event-type",
      paramLabel = "TEXT",
      description = "The event type, such as order.created.")
  @Nullable String eventType;

  @Option(
      names = "--content-type",
      paramLabel = "TEXT",
      description = "The content type; application/json by default. JSON is checked.")
  @Nullable String contentType;

  @Option(names = "--header", paramLabel = "NAME=VALUE", description = "A header. Can be repeated.")
  Map<String, String> headers = new LinkedHashMap<>();

  @Option(
      names = "--delay",
      paramLabel = "TIME",
      description = "Deliver it after this time, such as 10m.")
  @Nullable String delay;

  @Override
  int run(Context context) throws Exception {
    NewMessage message = message();
    Enqueued enqueued;
    try (Connection connection = context.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      enqueued = new Outbox(context.schema()).enqueue(connection, message);
      connection.commit();
    }
    if (context.json()) {
      screen()
          .json(
              new Fields()
                  .with("id", enqueued.id())
                  .with("sequence", enqueued.sequence())
                  .with("duplicate", enqueued.duplicate())
                  .map());
    } else {
      String sequence = enqueued.sequence() == null ? "" : "  sequence " + enqueued.sequence();
      screen().line(enqueued.id() + sequence + (enqueued.duplicate() ? "  duplicate" : ""));
    }
    return ExitCode.OK;
  }

  private String text(byte[] body) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
    } catch (CharacterCodingException e) {
      throw usage(
          "the payload is not UTF-8, as JSON must be; give a --content-type for other data");
    }
  }

  private NewMessage message() throws IOException {
    NewMessage.Builder message = NewMessage.to(namespace, topic).headers(headers);
    byte[] body = body();
    if (contentType == null || contentType.equals(Message.JSON)) {
      message.json(text(body));
    } else {
      message.payload(body, contentType);
    }
    if (key != null) {
      message.key(key);
    }
    if (dedupeKey != null) {
      message.dedupeKey(dedupeKey);
    }
    if (tenant != null) {
      message.tenant(tenant);
    }
    if (eventType != null) {
      message.eventType(eventType);
    }
    if (aggregateType != null && aggregateId != null) {
      message.aggregate(aggregateType, aggregateId);
    } else if (aggregateType != null || aggregateId != null) {
      throw usage("--aggregate-type and --aggregate-id go together");
    }
    if (delay != null) {
      message.notBefore(Instant.now().plus(Options.duration(this, "--delay", delay)));
    }
    return message.build();
  }

  private byte[] body() throws IOException {
    if (!payload.equals("-")) {
      return payload.getBytes(StandardCharsets.UTF_8);
    }
    byte[] read = System.in.readNBytes(PAYLOAD_MAX + 1);
    if (read.length > PAYLOAD_MAX) {
      throw usage("the payload is larger than " + (PAYLOAD_MAX >> 20) + " MiB");
    }
    return read;
  }
}
