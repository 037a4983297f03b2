package dev.postrider.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RouteTest {
  /** Pauses and breakers go by it: one namespace must not reach the topics of another. */
  @Test
  void noTwoRoutesHaveTheSameText() {
    List<Route> routes =
        List.of(
            new Route("a", "b/c"),
            new Route("a/b", "c"),
            new Route("a%2Fb", "c"),
            new Route("a%252Fb", "c"));
    assertThat(routes.stream().map(Route::toString)).doesNotHaveDuplicates();
    assertThat(new Route("shop", "orders")).hasToString("shop/orders");
  }
}
