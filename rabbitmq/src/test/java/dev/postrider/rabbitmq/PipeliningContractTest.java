package dev.postrider.rabbitmq;

import dev.postrider.destination.Destination;
import dev.postrider.envelope.Envelope;
import dev.postrider.testkit.Arrival;
import dev.postrider.testkit.DestinationContract;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;

/** The contract with a key's messages on their way together. */
@Tag("OP-6")
class PipeliningContractTest extends DestinationContract {
  @AutoClose private final TestBroker broker = TestBroker.shared();
  private final String name = TestBroker.unique("pipelined");
  private final List<Arrival> arrivals = new ArrayList<>();

  @Override
  protected Destination open() throws Exception {
    broker.exchangeAndQueue(name, Map.of());
    return RabbitDestination.open(
        RabbitConfig.to(broker.broker())
            .exchange(name)
            .envelope(Envelope.payload())
            .pipelining(true)
            .build());
  }

  @Override
  protected List<Arrival> arrived() throws Exception {
    broker.take(name).forEach(response -> arrivals.add(TestBroker.arrival(response)));
    return arrivals;
  }
}
