package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class AnyRouteTest {
  @AutoClose private final Post post = new Post();
  private final Map<String, String> arrived = new ConcurrentHashMap<>();

  private Destination noting(String name) {
    return HandlerDestination.inline(
        message -> {
          arrived.put(message.route().toString(), name);
          return Outcome.delivered();
        });
  }

  private void send(String namespace, String topic) {
    post.send(List.of(NewMessage.to(namespace, topic).json("{}").build()));
  }

  @Test
  void theRouteThatLeavesLeastOpenWins() {
    post.start(
        post.builder()
            .destination("everything", noting("everything"))
            .destination("every bill", noting("every bill"))
            .destination("shop", noting("shop"))
            .destination("orders", noting("orders"))
            .route("*", "*", "everything")
            .route("*", "bills", "every bill")
            .route("shop", "*", "shop")
            .route("shop", "orders", "orders"));
    send("shop", "orders");
    send("shop", "bills");
    send("hr", "bills");
    send("hr", "leave");
    await().until(() -> arrived.size() == 4);
    assertThat(arrived)
        .containsEntry("shop/orders", "orders")
        .containsEntry("shop/bills", "shop")
        .containsEntry("hr/bills", "every bill")
        .containsEntry("hr/leave", "everything");
  }
}
