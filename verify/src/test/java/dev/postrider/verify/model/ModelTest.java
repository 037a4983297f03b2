package dev.postrider.verify.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Checks every state of the protocol's model, and that the checker notices when a rule is left out.
 */
class ModelTest {
  private static final String SAFE = "NothingLost NothingInvented InOrder OneInFlight";

  @TempDir private Path directory;

  /** One subscription and two relays, with nothing that goes wrong. */
  private static Map<String, String> delivery() {
    Map<String, String> constants = new HashMap<>();
    constants.put("Relays", "{\"r1\", \"r2\"}");
    constants.put("Subs", "{\"s1\"}");
    constants.put("Last", "2");
    constants.put("Run", "2");
    constants.put("StuckSubs", "{}");
    for (String limit : List.of("Losses", "Crashes", "Failures", "Deaths")) {
      constants.put(limit, "0");
    }
    constants.put("Mutant", "\"none\"");
    return constants;
  }

  private static Map<String, String> doorbell(boolean longWrites, boolean polls, int crashes) {
    Map<String, String> constants = new HashMap<>();
    constants.put("Relays", "{\"r1\", \"r2\"}");
    constants.put("Producers", "{\"p1\", \"p2\"}");
    constants.put("LongWrites", longWrites ? "TRUE" : "FALSE");
    constants.put("Polls", polls ? "TRUE" : "FALSE");
    constants.put("Crashes", Integer.toString(crashes));
    constants.put("Mutant", "\"none\"");
    return constants;
  }

  private Tlc.Result checkDelivery(Map<String, String> constants) throws Exception {
    return new Tlc(directory).check("Delivery", constants, SAFE, "EverythingArrives");
  }

  private Tlc.Result checkDoorbell(Map<String, String> constants) throws Exception {
    return new Tlc(directory).check("Doorbell", constants, "Sound", "EverythingIsFound");
  }

  private static void assertKept(Tlc.Result result, String name) throws Exception {
    List<String> kept =
        Tlc.resource("counterexamples/" + name + ".txt").lines().filter(ModelTest::isStep).toList();
    assertThat(result.counterexample().stream().filter(ModelTest::isStep))
        .as(result.output())
        .isNotEmpty()
        .isEqualTo(kept);
  }

  private static boolean isStep(String line) {
    return line.startsWith("State ") || line.startsWith("Error: ");
  }

  @Test
  @Tag("EN-7")
  @Tag("EN-16")
  @Tag("EN-19")
  void aKeyKeepsItsOrderAndArrives() throws Exception {
    Map<String, String> constants = delivery();
    constants.put("Last", "3");
    constants.putAll(Map.of("Losses", "1", "Failures", "1", "Deaths", "1"));
    Tlc.Result result = checkDelivery(constants);
    assertThat(result.holds()).as(result.output()).isTrue();
  }

  @Test
  @Tag("EN-23")
  void aSubscriptionArrivesBesideOneThatIsStuckForEver() throws Exception {
    Map<String, String> constants = delivery();
    constants.put("Subs", "{\"s1\", \"s2\"}");
    constants.put("StuckSubs", "{\"s2\"}");
    constants.putAll(Map.of("Failures", "1", "Crashes", "1"));
    Tlc.Result result = checkDelivery(constants);
    assertThat(result.holds()).as(result.output()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "no fence,           2, 1, 1, 0",
    "no head check,      2, 0, 1, 0",
    "released too early, 2, 0, 0, 1",
    "never released,     3, 0, 1, 0"
  })
  void anEngineThatLacksARuleIsCaught(
      String mutant, String last, String losses, String failures, String deaths) throws Exception {
    Map<String, String> constants = delivery();
    constants.put("Last", last);
    constants.putAll(Map.of("Losses", losses, "Failures", failures, "Deaths", deaths));
    constants.put("Mutant", "\"" + mutant + "\"");
    assertKept(checkDelivery(constants), mutant.replace(' ', '-'));
  }

  @Test
  @Tag("PO-7")
  void aRingAloneIsEnoughForShortTransactions() throws Exception {
    Tlc.Result result = checkDoorbell(doorbell(false, false, 0));
    assertThat(result.holds()).as(result.output()).isTrue();
  }

  @Test
  @Tag("PO-7")
  void withPollsNothingIsMissedWhateverIsLostAndWhoeverDies() throws Exception {
    Tlc.Result result = checkDoorbell(doorbell(true, true, 1));
    assertThat(result.holds()).as(result.output()).isTrue();
  }

  /** Why relays poll: a producer read the flag before it went up, and commits afterwards. */
  @Test
  void withoutPollsARingCanBeLost() throws Exception {
    assertKept(checkDoorbell(doorbell(true, false, 0)), "lost-ring");
  }

  @Test
  void aRelayThatDoesNotLookASecondTimeIsCaught() throws Exception {
    Map<String, String> constants = doorbell(false, false, 0);
    constants.put("Mutant", "\"sleeps before the second look\"");
    assertKept(checkDoorbell(constants), "sleeps-before-the-second-look");
  }
}
