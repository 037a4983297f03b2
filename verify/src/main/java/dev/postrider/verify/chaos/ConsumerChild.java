package dev.postrider.verify.chaos;

import dev.postrider.verify.journal.Journal;
import java.nio.file.Path;
import java.util.List;

/**
 * The services behind the brokers, in one process: each notes what arrives, then does its effect
 * behind the inbox, then acknowledges. Argument: directory.
 */
final class ConsumerChild {
  static final String NAME = "consumer";

  private ConsumerChild() {}

  public static void main(String[] arguments) {
    Path directory = Path.of(arguments[0]);
    Scene scene = Scene.read(directory);
    Journal journal = Journal.open(directory, NAME);
    List<Runnable> consumers =
        List.of(
            new RabbitConsumer(scene, Scene.QUEUE, new InboxSink(scene, Scene.RABBIT, journal)),
            new RabbitConsumer(
                scene, Scene.COPY_QUEUE, new InboxSink(scene, Scene.COPY_RABBIT, journal)),
            new KafkaReader(scene, new InboxSink(scene, Scene.KAFKA, journal)));
    consumers.forEach(consumer -> new Thread(consumer).start());
  }
}
