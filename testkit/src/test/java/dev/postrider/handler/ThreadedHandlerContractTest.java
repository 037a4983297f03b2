package dev.postrider.handler;

import dev.postrider.destination.Destination;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.testkit.Arrival;
import dev.postrider.testkit.OutageContract;
import java.util.List;
import org.junit.jupiter.api.Tag;

@Tag("OP-6")
class ThreadedHandlerContractTest extends OutageContract {
  private final Inbox inbox = new Inbox();

  @Override
  protected Destination open() {
    return HandlerDestination.of(4, inbox::take);
  }

  @Override
  protected List<Arrival> arrived() {
    return inbox.arrived();
  }

  @Override
  protected void breakOff() {
    inbox.away = true;
  }

  @Override
  protected void repair() {
    inbox.away = false;
  }
}
