package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.cli.Executable.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What must fail, how it says so, and help. */
@Tag("OP-1")
class UsageTest {
  @TempDir Path folder;

  private Result run(String... arguments) {
    return Executable.in(folder).run(arguments);
  }

  @Test
  void everyCommandHasHelpWithAnExample() {
    String help = run("--help").ok();
    List<String> commands =
        help.lines()
            .dropWhile(line -> !line.equals("Commands:"))
            .filter(line -> line.matches(" {2}[a-z-]+ .*"))
            .map(line -> line.strip().replaceAll(" .*", ""))
            .toList();
    assertThat(commands)
        .contains("up", "migrate", "enqueue", "relay", "status", "messages")
        .contains(
            "tail",
            "dead",
            "keys",
            "subscriptions",
            "pause",
            "resume",
            "replay",
            "archive",
            "purge",
            "audit",
            "doctor",
            "bench",
            "server",
            "token",
            "config");
    for (String command : List.of("dead", "replay")) {
      assertThat(run(command, "--help").ok())
          .contains("Usage: postrider " + command, "Example:", "./postrider " + command);
    }
    assertThat(run("dead", "discard", "--help").ok()).contains("--reason", "Example:");
  }

  @Test
  void theVersionIsTheJars() {
    assertThat(run("--version").ok()).startsWith("postrider 0.").contains("Java ");
  }

  @Test
  void completionIsAScriptForTheShell() {
    assertThat(run("generate-completion").ok())
        .contains("complete -F", "postrider", "requeue", "token", "--payload-bytes")
        .contains("\"destination\" \"topic\"", "\"viewer\"", "example", "webhook-key")
        .doesNotContain("\"DESTINATION\"", "\"TOPIC\"");
  }

  @Test
  void whatIsMisspelledIsNamedAndNothingIsTried() {
    run("statsu").failed(2, "statsu", "Did you mean: status", "Try: ./postrider --help");
    run("status", "--jsn").failed(2, "--jsn", "Try: ./postrider status --help");
    run("enqueue", "--topic", "x").failed(2, "--namespace", "--payload");
    run("pause", "topic", "orders").failed(2, "namespace/topic");
    run("messages", "search", "--key", "k").failed(2, "--namespace");
    run("messages", "--key", "k").failed(2, "--namespace");
    run("dead", "list", "--after", "x").failed(2, "--after");
    run("keys", "lst").failed(2, "lst");
    run("bench", "--messages", "5").failed(2, "--messages: expected 100 to 200000, got 5");
    run("up", "--demo", "--url", "jdbc:postgresql://127.0.0.1:1/none").failed(2, "--demo");
    run("pause", "queue", "x")
        .failed(2, "expected destination, topic or subscription, got \"queue\"");
    run("webhook-key", "--bytes", "23").failed(2, "--bytes: expected 24 to 64, got 23");
    run("--json").failed(2, "which command?");
  }

  @Test
  void aloneItShowsHelp() {
    Result result = run();
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.out()).contains("Usage: postrider", "Commands:", "  up ", "  example ");
    assertThat(result.err()).isEmpty();
  }

  @Test
  void theHelpOfExampleNamesEachOne() throws Exception {
    try (Stream<Path> folders = Files.list(Path.of("../examples"))) {
      List<String> examples =
          folders
              .filter(example -> Files.exists(example.resolve("src/main/java")))
              .map(example -> example.getFileName().toString())
              // Not run by the script: one is a library, one is a Spring Boot application.
              .filter(name -> !name.equals("stage") && !name.equals("spring-shop"))
              .toList();
      assertThat(examples).isNotEmpty();
      assertThat(run("example", "--help").ok().replaceAll("\\s+", " ")).contains(examples);
    }
    run("example", "chat", "--seconds", "3").failed(2, "./postrider, in a clone");
  }

  @Test
  @Tag("HE-13")
  void aCommandReadsOnlyThePartOfTheConfigurationThatItUses() throws Exception {
    Files.writeString(
        folder.resolve("postrider.yaml"),
        """
        postrider:
          database: {url: "jdbc:postgresql://127.0.0.1:1/none"}
          destinations:
            rail: {type: webhook, url: "https://example.com/hook"}
          routes: [{namespace: pay, destination: rail}]
        """);
    Executable postrider =
        Executable.in(folder).with("POSTRIDER_DESTINATIONS_OTHER_PASSWORD", "s3cret");
    postrider.run("status").failed(3, "refused");
    postrider.run("server").failed(3, "refused");
    postrider.run("relay").failed(2, "rail.keys: missing; expected keys");
    assertThat(postrider.run("config").exitCode()).isEqualTo(2);

    String key = run("webhook-key").ok();
    assertThat(key).matches("whsec_[A-Za-z0-9+/]{43}=").isNotEqualTo(run("webhook-key").ok());
    assertThat(run("webhook-key", "--json").json().get("key").toString()).startsWith("whsec_");
    Path file = Files.writeString(folder.resolve("rail.key"), key + "\n");
    Result result =
        postrider.with("POSTRIDER_DESTINATIONS_RAIL_KEYS_FILE", file.toString()).run("config");
    assertThat(result.ok())
        .containsPattern("rail.keys +\\*+ +POSTRIDER_DESTINATIONS_RAIL_KEYS_FILE")
        .doesNotContain(key);
    assertThat(result.err())
        .contains("warning: POSTRIDER_DESTINATIONS_OTHER_PASSWORD: ignored")
        .doesNotContain("s3cret");
  }

  @Test
  void aDatabaseMustBeKnown() {
    run("status")
        .failed(2, "no database is configured", "POSTRIDER_DATABASE_URL", "./postrider up");
  }

  @Test
  void aDatabaseThatCannotBeReachedIsExitCode3() {
    run("status", "--url", "postgresql://ann:s3cret@127.0.0.1:1/shop")
        .failed(3, "postgresql://ann:********@127.0.0.1:1/shop", "refused");
  }

  @Test
  void verboseShowsWhereAnErrorComesFrom() {
    Result result = run("status", "--url", "jdbc:postgresql://127.0.0.1:1/shop", "--verbose");
    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err()).contains("PSQLException", "\tat ");
  }

  @Test
  @Tag("HE-13")
  void allErrorsOfAConfigurationAreSaidAtOnce() throws Exception {
    Files.writeString(
        folder.resolve("postrider.yaml"),
        """
        postrider:
          relay:
            batch-size: 0
            leese: 5s
          routes:
            - namespace: shop
              destination: nowhere
        """);
    Executable.in(folder)
        .with("POSTRIDER_RELAY_CARRIERS", "many")
        .run("relay", "--poll-interval", "1ms")
        .failed(
            2,
            "the configuration has 5 errors",
            "postrider.yaml:3: postrider.relay.batch-size: expected a whole number from 1 to 10000, got \"0\"",
            "postrider.yaml:4: postrider.relay.leese: unknown key; did you mean \"lease\"?",
            "postrider.yaml:7: postrider.routes[0].destination: there is no destination \"nowhere\"",
            "POSTRIDER_RELAY_CARRIERS: postrider.relay.carriers: expected a whole number",
            "--poll-interval: postrider.relay.poll-interval: expected a duration from 10ms to 1m");
  }

  @Test
  @Tag("HE-13")
  void theConfigurationInEffectIsShownWithItsSourcesAndWithoutSecrets() throws Exception {
    Files.writeString(
        folder.resolve("other.yaml"),
        """
        postrider:
          database: {url: "jdbc:postgresql://db/shop", password: s3cret}
          relay: {lease: 30s}
        """);
    String shown =
        Executable.in(folder)
            .with("POSTRIDER_RELAY_BATCH_SIZE", "7")
            .run("config", "--config", "other.yaml", "--set", "relay.carriers=3")
            .ok();
    assertThat(shown)
        .containsPattern("postrider.relay.lease +30s +other.yaml:3")
        .containsPattern("postrider.relay.batch-size +7 +POSTRIDER_RELAY_BATCH_SIZE")
        .containsPattern("postrider.relay.carriers +3 +--set relay.carriers")
        .containsPattern("postrider.relay.listen +true +default")
        .containsPattern("postrider.database.password +\\*+ +other.yaml:2")
        .doesNotContain("s3cret");
    run("config", "--config", "none.yaml").failed(2, "none.yaml does not exist");
  }

  @Test
  void errorsAreJsonToo() {
    Result result = run("status", "--json");
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(Executable.parsed(result.out()).toString()).contains("no database", "exit_code=2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x"})
  void theScriptRunsTheJarFromAnywhere(String wrong) throws Exception {
    String script = Path.of("../postrider").toRealPath().toString();
    Executable postrider = Executable.in(folder).with("POSTRIDER_BUILD", "never");
    try (Executable.Running running =
        postrider.start(wrong.isEmpty() ? List.of(script, "--version") : List.of(script, wrong))) {
      running.awaitExit();
      assertThat(running.result().exitCode()).isEqualTo(wrong.isEmpty() ? 0 : 2);
    }
  }
}
