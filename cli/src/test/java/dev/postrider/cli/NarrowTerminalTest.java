package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.cli.Executable.Result;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What operators look at fits their terminal, and is whole where there is none. */
@Tag("OP-1")
class NarrowTerminalTest {
  private static final String ERROR = "HTTP 422: the account is not known to the bank; ".repeat(4);
  private static final List<List<String>> LISTS =
      List.of(
          List.of("messages", "--namespace", "payments"),
          List.of("dead"),
          List.of("tail", "--for", "1ms"));

  @TempDir private Path folder;
  private Desk desk;
  private final List<String> ids = new ArrayList<>();

  @BeforeEach
  void send() throws Exception {
    desk = Desk.ready(folder);
    for (int i = 1; i <= 3; i++) {
      ids.add(
          desk.enqueue(
              NewMessage.to("payments", "instructions").key("customer-" + i * i * i).json("{}")));
    }
    desk.carry(Outcome.terminal("http_422", ERROR), DeadPolicy.BLOCK);
  }

  private Result run(int columns, List<String> command) {
    return desk.postrider
        .with("NO_COLOR", "1")
        .with("JDK_JAVA_OPTIONS", "-Dpostrider.terminal=1 -Dpostrider.columns=" + columns)
        .run(command.toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(ints = {80, 120})
  void noLineIsWiderThanTheTerminal(int columns) {
    List<List<String>> all = new ArrayList<>(LISTS);
    all.add(List.of("keys"));
    all.add(List.of("status"));
    all.add(List.of("messages", "show", ids.get(0)));
    all.add(List.of("--help"));
    for (List<String> command : all) {
      assertThat(run(columns, command).ok().lines())
          .as("%s", command)
          .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(columns));
    }
    for (List<String> command : LISTS) {
      assertThat(run(columns, command).ok()).as("%s", command).contains(ids);
    }
    assertThat(run(columns, List.of("keys")).ok()).contains("customer-1 ", "customer-27 ");
  }

  @Test
  void whereThereIsNoTerminalNothingIsCut() {
    for (List<String> command : LISTS) {
      assertThat(desk.run(command.toArray(String[]::new)).ok())
          .as("%s", command)
          .contains(ids)
          .contains("payments/instructions", "customer-27", "http_422")
          .doesNotContain("…");
    }
    assertThat(desk.run("dead").ok()).contains(ERROR.strip());
  }

  @Test
  void statusNamesBlockedKeysAndTailAligns() {
    assertThat(run(80, List.of("status")).ok())
        .contains("3 blocked keys")
        .containsPattern("payments customer-27 +instructions +\\S+s +0 +http_422");
    assertThat(
            run(120, List.of("tail", "--for", "1ms"))
                .ok()
                .lines()
                .map(line -> line.replaceFirst("[0-9a-f]{8}-.*", "").length())
                .distinct())
        .as("places where the ids start")
        .hasSize(1);
  }
}
