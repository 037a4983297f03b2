package dev.postrider.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.destination.HandlerDestination;
import dev.postrider.message.Outcome;
import dev.postrider.message.Settlement;
import dev.postrider.relay.Relay;
import dev.postrider.testing.TestDatabase;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RelayListenerTest {
  private final TestDatabase database = TestDatabase.create();

  /** Throws from every method, an error at that. */
  private static RelayListener broken() {
    return (RelayListener)
        Proxy.newProxyInstance(
            RelayListener.class.getClassLoader(),
            new Class<?>[] {RelayListener.class},
            (proxy, method, arguments) -> {
              throw new NoClassDefFoundError(method.getName());
            });
  }

  @Test
  void aBrokenListenerHurtsNeitherTheRelayNorTheOthers() {
    AtomicInteger settled = new AtomicInteger();
    RelayListener counting =
        new RelayListener() {
          @Override
          public void settled(String destination, Settlement settlement) {
            settled.incrementAndGet();
          }
        };
    database.execute(
        "select postrider.enqueue('shop', 'orders', '{}') from generate_series(1, 100)");
    try (Relay relay =
        Relay.builder(database.dataSource())
            .listener(RelayListener.all(broken(), counting))
            .destination("here", HandlerDestination.inline(message -> Outcome.delivered()))
            .route("shop", "*", "here")
            .build()
            .start()) {
      await().until(() -> settled.get() == 100);
      assertThat(relay.status().running()).isTrue();
    }
    assertThat(database.count("select count(*) from postrider.queue")).isZero();
  }
}
