package dev.postrider.rabbitmq;

import dev.postrider.destination.Destination;
import dev.postrider.envelope.Envelope;
import dev.postrider.testkit.Arrival;
import dev.postrider.testkit.OutageContract;
import dev.postrider.testkit.RabbitServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract of destinations, with a broker that is stopped and started. */
@Tag("OP-6")
class RabbitContractTest extends OutageContract {
  private static RabbitServer server;
  private static TestBroker broker;

  private final String name = TestBroker.unique("contract");
  private final List<Arrival> arrivals = new ArrayList<>();

  @BeforeAll
  static void startBroker() {
    server = RabbitServer.start();
    broker = new TestBroker(server);
  }

  @AfterAll
  static void stopBroker() throws Exception {
    broker.close();
    server.close();
  }

  @Override
  protected Destination open() throws Exception {
    broker.exchangeAndQueue(name, Map.of());
    return RabbitDestination.open(
        RabbitConfig.to(broker.broker()).exchange(name).envelope(Envelope.payload()).build());
  }

  @Override
  protected List<Arrival> arrived() throws Exception {
    broker.take(name).forEach(response -> arrivals.add(TestBroker.arrival(response)));
    return arrivals;
  }

  /** A broker takes a while to start. */
  @Override
  protected Duration timeout() {
    return Duration.ofMinutes(1);
  }

  @Override
  protected void breakOff() {
    server.storeDeclarations();
    server.kill();
  }

  @Override
  protected void repair() {
    server.restart();
  }
}
