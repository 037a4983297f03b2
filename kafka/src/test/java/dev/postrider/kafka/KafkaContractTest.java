package dev.postrider.kafka;

import dev.postrider.destination.Destination;
import dev.postrider.testkit.Arrival;
import dev.postrider.testkit.OutageContract;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;

/** Everything that is promised of a destination, also of one whose broker is killed. */
@Tag("OP-6")
class KafkaContractTest extends OutageContract {
  /** The engine's largest payload is above what topics take unless told otherwise. */
  @AutoClose private final Topic topic = Topic.create(Map.of("max.message.bytes", "2097152"));

  @Override
  protected Destination open() {
    return KafkaDestination.open(Broker.config().topic(topic.name).build());
  }

  @Override
  protected List<Arrival> arrived() {
    return topic.arrivals();
  }

  @Override
  protected void breakOff() {
    Broker.SERVER.kill();
  }

  @Override
  protected void repair() {
    Broker.SERVER.restart();
  }
}
