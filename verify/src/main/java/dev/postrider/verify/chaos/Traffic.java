package dev.postrider.verify.chaos;

import dev.postrider.message.NewMessage;
import dev.postrider.verify.journal.Entry.Intent;
import dev.postrider.verify.journal.Entry.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** What producers write: the seed decides, so that a producer that died knows what it was at. */
final class Traffic {
  private static final int KEYS = 30;
  private static final String[] TOPICS = {
    Scene.HANDLED, Scene.RABBIT, Scene.KAFKA, Scene.HANDLED, Scene.RABBIT, Scene.KAFKA, Scene.BOTH
  };

  private final long seed;
  private final String producer;

  Traffic(long seed, String producer) {
    this.seed = seed;
    this.producer = producer;
  }

  /**
   * One transaction.
   *
   * @param once whether its messages have dedupe keys, so that it can be repeated
   * @param rollBack whether the producer changes its mind
   */
  record Transaction(
      String name,
      boolean once,
      boolean rollBack,
      List<Intent> intents,
      List<NewMessage> messages) {}

  Transaction transaction(int number, long at) {
    SplittableRandom random =
        new SplittableRandom(seed * 1_000_003 + producer.hashCode() * 31L + number);
    String name = producer + "-" + number;
    boolean once = random.nextInt(2) == 0;
    boolean rollBack = random.nextInt(12) == 0;
    int size = random.nextInt(4) == 0 ? 1 + random.nextInt(20) : 1 + random.nextInt(3);
    List<Intent> intents = new ArrayList<>();
    List<NewMessage> messages = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      message(random, name, name + "-" + i, once, at, intents, messages);
    }
    return new Transaction(name, once, rollBack, intents, messages);
  }

  private static void message(
      SplittableRandom random,
      String transaction,
      String ref,
      boolean once,
      long at,
      List<Intent> intents,
      List<NewMessage> messages) {
    int chance = random.nextInt(200);
    String topic = TOPICS[random.nextInt(TOPICS.length)];
    String key = random.nextInt(4) == 0 ? null : topic + "-k" + random.nextInt(KEYS);
    String eventType = Scene.GOOD;
    Kind kind = Kind.HEALTHY;
    if (chance < 4) {
      topic = Scene.HANDLED;
      key = Scene.STUCK + random.nextInt(8);
      kind = Kind.STUCK;
    } else if (chance < 7) {
      topic = random.nextBoolean() ? Scene.RABBIT : Scene.KAFKA;
      key = topic + "-bad" + random.nextInt(8);
      eventType = Scene.BAD;
      kind = Kind.STUCK;
    } else if (chance < 9) {
      topic = Scene.HANDLED;
      ref += Scene.POISON;
      kind = Kind.POISON;
    } else if (chance < 10) {
      topic = Scene.HANDLED;
      key = Scene.SLOW + random.nextInt(4);
      kind = Kind.BUSY;
    } else if (chance < 60) {
      key = topic + "-busy";
      kind = Kind.BUSY;
    }
    intents.add(new Intent(at, transaction, ref, key, sinks(topic), kind));
    NewMessage.Builder message =
        NewMessage.to(Scene.NAMESPACE, topic)
            .payload(ref.getBytes(StandardCharsets.UTF_8), "text/plain")
            .eventType(eventType);
    if (key != null) {
      message.key(key);
    }
    if (once) {
      message.dedupeKey(ref);
    }
    messages.add(message.build());
  }

  private static List<String> sinks(String topic) {
    return topic.equals(Scene.BOTH)
        ? List.of(Scene.HANDLED, Scene.COPY_HANDLED, Scene.COPY_RABBIT)
        : List.of(topic);
  }
}
