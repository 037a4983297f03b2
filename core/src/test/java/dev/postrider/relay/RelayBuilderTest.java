package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.destination.Destination;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.message.Message;
import dev.postrider.message.PostriderException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** What is wrong with a relay is said before it starts. */
@Tag("HE-13")
class RelayBuilderTest {
  private static final DestinationOptions TEN_SECONDS =
      DestinationOptions.DEFAULT.withTimeout(Duration.ofSeconds(10));

  /** Answers after so long, or says so. */
  private record Slow(Duration answersWithin) implements Destination {
    @Override
    public void deliver(List<Message> batch, Answers answers) {
      throw new AssertionError("nothing is sent here");
    }
  }

  private static Relay.Builder to(Duration answersWithin) {
    return Relay.builder(new PGSimpleDataSource())
        .destination("slow", new Slow(answersWithin), TEN_SECONDS)
        .route("shop", "*", "slow");
  }

  @Test
  void aTimeoutThatIsOverBeforeTheDestinationGivesUpIsRefusedWithTheOtherMistakes() {
    assertThatThrownBy(() -> to(Duration.ofSeconds(10)).route("shop", "orders", "rail").build())
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("'rail', which is not among [slow]")
        .hasMessageContaining(
            "destination 'slow' may take 10000 ms to answer by its own settings: "
                + "expected a longer timeout, got 10000 ms");
  }

  @Test
  void oneThatIsLongerIsFine() {
    assertThatCode(() -> to(Duration.ofMillis(9_999)).build().close()).doesNotThrowAnyException();
  }
}
