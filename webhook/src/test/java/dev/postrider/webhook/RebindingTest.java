package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Outcome;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A name server that changes its mind: 127.0.0.1 stands for an allowed address, .2 for none. */
@Tag("OP-6")
class RebindingTest {
  private final Receiver allowed = new Receiver("127.0.0.1", Certificate.valid().server());
  private final Receiver inside =
      new Receiver("127.0.0.2", allowed.port(), Certificate.valid().server());
  private final AtomicInteger lookups = new AtomicInteger();

  @AfterEach
  void stop() {
    allowed.close();
    inside.close();
  }

  /** Answers one list of addresses after the other; the last one again and again. */
  private WebhookDestination resolving(List<List<String>> answers) {
    Deque<List<String>> left = new ArrayDeque<>(answers);
    return Hooks.open(
        Hooks.toHost(allowed)
            .lookup(
                host -> {
                  lookups.incrementAndGet();
                  List<String> answer = left.size() > 1 ? left.remove() : left.element();
                  return answer.stream().map(RebindingTest::address).toArray(InetAddress[]::new);
                }));
  }

  private static InetAddress address(String literal) {
    try {
      return InetAddress.getAllByName(literal)[0];
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theCheckedAddressIsTheOneConnectedTo() {
    try (WebhookDestination destination =
        resolving(List.of(List.of("127.0.0.1"), List.of("127.0.0.2")))) {
      assertThat(Hooks.send(destination, Hooks.message("{}"))).isEqualTo(Outcome.delivered());
      assertThat(lookups).hasValue(1);
      // The connection is kept, so its name is not asked for again.
      assertThat(Hooks.send(destination, Hooks.message("{}"))).isEqualTo(Outcome.delivered());
      assertThat(lookups).hasValue(1);
    }
    assertThat(allowed.requests()).hasSize(2);
    assertThat(inside.requests()).isEmpty();
  }

  @Test
  void everyNewConnectionIsCheckedAnew() {
    allowed.answer(Receiver.Answer.of(200).with("connection", "close"));
    try (WebhookDestination destination =
        resolving(List.of(List.of("127.0.0.1"), List.of("127.0.0.2")))) {
      assertThat(Hooks.send(destination, Hooks.message("{}"))).isEqualTo(Outcome.delivered());
      Outcome second = Hooks.send(destination, Hooks.message("{}"));
      assertThat(Hooks.kind(second)).isEqualTo("unavailable address_refused");
      assertThat(Hooks.error(second)).isEqualTo("hooks.test leads to 127.0.0.2, which is loopback");
    }
    assertThat(lookups).hasValue(2);
    assertThat(inside.requests()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1,127.0.0.2", "127.0.0.2,127.0.0.1", "127.0.0.1,::1"})
  void oneRefusedAddressRefusesTheName(String addresses) {
    List<String> answer = Stream.of(addresses.split(",", -1)).toList();
    try (WebhookDestination destination = resolving(List.of(answer))) {
      assertThat(Hooks.kind(Hooks.send(destination, Hooks.message("{}"))))
          .isEqualTo("unavailable address_refused");
    }
    assertThat(allowed.requests()).isEmpty();
    assertThat(inside.requests()).isEmpty();
  }

  @Test
  void theSystemsOwnNamesAreCheckedToo() {
    assertThat(Hooks.kind(Hooks.send(WebhookConfig.to("https://localhost/").key(Hooks.SECRET))))
        .isEqualTo("unavailable address_refused");
  }

  @Test
  void aNameWithoutAddressesIsUnknown() {
    try (WebhookDestination destination = resolving(List.of(List.of()))) {
      assertThat(Hooks.kind(Hooks.send(destination, Hooks.message("{}"))))
          .isEqualTo("unavailable unknown_host");
    }
  }
}
