package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.cli.Executable.Result;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From an empty database to the first message. */
@Tag("OP-1")
class SetUpTest {
  @TempDir Path folder;
  private Desk desk;

  @BeforeEach
  void open() {
    desk = Desk.bare(folder);
  }

  @Test
  @Tag("EN-13")
  @Tag("EN-14")
  void migrateMakesSchemaAndRolesAndThenNothing() {
    desk.run("status").failed(4, "\"postrider\" is not there", "./postrider migrate");
    assertThat(desk.run("migrate", "--roles").ok())
        .contains("V001__tables.sql", "postrider_producer", "_reader");
    assertThat(
            desk.value(
                "select has_function_privilege('postrider_operator',"
                    + " 'postrider.pause_on(text, text, text, boolean)', 'execute')"))
        .isEqualTo("t");
    assertThat(desk.run("migrate", "--json").json())
        .isEqualTo(Map.of("applied", java.util.List.of(), "roles", false));
    assertThat(desk.run("status").ok()).contains("0 pending", "No relay runs.");
  }

  @Test
  @Tag("EN-13")
  void thePrintedScriptDoesTheSame() {
    Result printed = desk.run("migrate", "--print", "--roles", "--schema", "outbox");
    assertThat(desk.column("select nspname from pg_namespace where nspname = 'outbox'")).isEmpty();
    desk.execute(printed.ok());
    assertThat(desk.run("migrate", "--schema", "outbox").ok()).isEqualTo("Up to date.");
    assertThat(desk.run("status", "--schema", "outbox").ok()).contains("0 pending");
  }

  @Test
  void enqueuePrintsIdSequenceAndDuplicate() {
    desk.run("migrate").ok();
    String[] message = {
      "enqueue",
      "-n",
      "shop",
      "-t",
      "orders",
      "-k",
      "o-1",
      "--dedupe-key",
      "d",
      "--tenant",
      "t",
      "--aggregate-type",
      "order",
      "--aggregate-id",
      "o-1",
      "--event-type",
      "created",
      "--header",
      "traceparent=00-a",
      "-p",
      "{\"name\": \"Jörg\"}"
    };
    String first = desk.run(message).ok();
    assertThat(first).matches("[0-9a-f-]{36} {2}sequence 1");
    assertThat(desk.run(message).ok()).isEqualTo(first + "  duplicate");
    assertThat(
            desk.column(
                "select concat_ws('|', tenant, aggregate_type, event_type, headers->>'traceparent',"
                    + " convert_from(payload, 'UTF8')) from postrider.message"))
        .containsExactly("t|order|created|00-a|{\"name\": \"Jörg\"}");
  }

  @Test
  void enqueueReadsStandardInputAndRefusesWhatIsNotJson() {
    desk.run("migrate").ok();
    desk.postrider
        .reading("{\"name\": \"J\u00fcrgen\"}".getBytes(StandardCharsets.ISO_8859_1))
        .run("enqueue", "-n", "shop", "-t", "orders", "-p", "-")
        .failed(2, "not UTF-8");
    Executable piped = desk.postrider.reading("{\"n\": 1}");
    Map<String, Object> answer =
        piped.run("enqueue", "-n", "shop", "-t", "orders", "-p", "-", "--json").json();
    assertThat(answer).containsEntry("duplicate", false).containsKey("id");
    assertThat(desk.value("select convert_from(payload, 'UTF8') from postrider.message"))
        .isEqualTo("{\"n\": 1}");
    desk.run("enqueue", "-n", "shop", "-t", "orders", "-p", "oops").failed(2, "not valid JSON");
    desk.run("enqueue", "-n", "shop", "-t", "o", "-p", "{}", "--delay", "soon")
        .failed(2, "--delay");
    desk.run("enqueue", "-n", "shop", "-t", "o", "-p", "{}", "--aggregate-id", "1")
        .failed(2, "--aggregate-type");
    assertThat(desk.value("select count(*) from postrider.message")).isEqualTo("1");
  }
}
