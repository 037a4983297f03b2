package dev.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long it takes until there is another producer. */
@Tag("OP-6")
@Tag("EN-10")
class ProducerSlotTest {
  private static final Pattern PAUSE = Pattern.compile("pause_ms=(\\d+)");

  private final Map<String, String> settings = Broker.config().build().settings();
  private final ProducerSlot slot =
      new ProducerSlot(
          settings,
          new KafkaErrors(new SecretMask(settings), Set.of()),
          new LiveProducer.Shared(
              Duration.ofSeconds(5),
              new Acknowledgements(),
              new Overtaken(),
              new AwayPartitions(Duration.ofSeconds(10)),
              true,
              Duration.ofMinutes(1),
              Runnable::run));

  private LiveProducer next() {
    await().atMost(Duration.ofSeconds(30)).until(() -> slot.get() != null);
    return slot.get();
  }

  private void breakNext() {
    next().failed(null, new ProducerFencedException("fenced"), null);
    assertThat(slot.get()).isNull();
  }

  @Test
  void thePauseIsShortAgainAfterADeliveryAlsoOfAProducerThatWasStopped() {
    try (LogLines lines = new LogLines()) {
      breakNext();
      breakNext();
      LiveProducer delivers = next();
      delivers.acknowledged(UUID.randomUUID(), null);
      delivers.stop(FailStop.ABORTED);
      slot.stopped(delivers, FailStop.ABORTED);
      breakNext();
      List<String> pauses =
          lines.all().stream()
              .filter(line -> line.contains("fenced"))
              .flatMap(line -> PAUSE.matcher(line).results().map(MatchResult::group))
              .toList();
      assertThat(pauses).containsExactly("pause_ms=200", "pause_ms=400", "pause_ms=200");
    } finally {
      slot.close();
    }
  }
}
