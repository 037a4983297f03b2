package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.message.Outcome;
import dev.postrider.message.PostriderException;
import dev.postrider.observe.RelayListener;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How destinations and routes fit together. */
@Tag("HE-13")
class RelayPartsTest {
  private final RelayParts parts = new RelayParts();

  private void destination(String name) {
    Destination destination = HandlerDestination.inline(message -> Outcome.delivered());
    parts.destination(name, destination, DestinationOptions.DEFAULT);
  }

  private void route(String topic, String subscription, String destination) {
    parts.route(
        new RelayParts.PlannedRoute(
            "shop", topic, subscription, destination, RouteOptions.DEFAULT));
  }

  @Test
  void withoutARouteNothingWouldBeSent() {
    destination("here");
    assertThatThrownBy(parts::check)
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("there is no route");
  }

  @Test
  void aDestinationIsGivenOnce() {
    destination("here");
    assertThatThrownBy(() -> destination("here"))
        .isInstanceOf(PostriderException.class)
        .hasMessage("destination 'here' is given twice");
  }

  @Test
  void everythingThatIsWrongIsInOneError() {
    destination("here");
    route("orders", "", "rail");
    route("*", "audit", "here");
    route("orders", "audit", "here");
    route("orders", "audit", "here");
    assertThatThrownBy(parts::check)
        .isInstanceOf(PostriderException.class)
        .hasMessage(
            "relay: route shop/orders names destination 'rail', which is not among [here]; "
                + "subscription shop/*#audit has no exact topic; name the namespace and the topic, without *; "
                + "subscription shop/orders#audit is given twice");
  }

  @Test
  void oneTopicMayGoToSeveralDestinations() {
    destination("here");
    destination("there");
    route("*", "", "here");
    route("orders", "audit", "there");
    route("orders", "search", "there");
    assertThatCode(parts::check).doesNotThrowAnyException();

    Map<String, Dispatcher> dispatchers = parts.dispatchers(RelayListener.NONE);
    assertThat(dispatchers).containsOnlyKeys("here", "there");
    assertThat(parts.bindings(dispatchers))
        .extracting(RouteBinding::toString)
        .containsExactly(
            "shop/* -> here", "shop/orders#audit -> there", "shop/orders#search -> there");
  }
}
