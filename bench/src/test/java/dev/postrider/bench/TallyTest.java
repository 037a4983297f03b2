package dev.postrider.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Base64;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TallyTest {

  @Test
  void countsAcrossProcessesWhatIsMissingAndWhatCameTwice() {
    Stage.Tally tally =
        Stage.Tally.of(6, List.of(closed(2, 0, 1), closed(4, 1, 2, 3))); // one of them 2 twice

    assertThat(tally).isEqualTo(new Stage.Tally(2, 2));
  }

  private static PeerProcess.Answer closed(int handled, int... numbers) {
    BitSet seen = new BitSet();
    for (int number : numbers) {
      seen.set(number);
    }
    return new PeerProcess.Answer(
        "closed",
        Map.of(
            "handled",
            Integer.toString(handled),
            "seen",
            Base64.getEncoder().withoutPadding().encodeToString(seen.toByteArray())));
  }
}
