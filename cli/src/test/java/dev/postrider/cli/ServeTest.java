package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.cli.Executable.Result;
import dev.postrider.cli.Executable.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server, its tokens, and up with both. */
@Tag("OP-1")
class ServeTest {
  @TempDir Path folder;

  static String url(Running running) {
    await()
        .until(
            () ->
                running.err().matches("(?s).*[sS]erver: \\S+\n.*") || !running.process().isAlive());
    Matcher found = Pattern.compile("[sS]erver: (\\S+)").matcher(running.err());
    assertThat(found.find()).as(running.err()).isTrue();
    return found.group(1);
  }

  private static void awaitUp(Running up) {
    await().until(() -> up.err().contains("Ctrl-C ends it.") || !up.process().isAlive());
    assertThat(up.process().isAlive()).as(up.err()).isTrue();
  }

  @Test
  void theServerAnswersThoseWhoHaveAToken() throws Exception {
    Desk desk = Desk.bare(folder);
    desk.run("server").failed(4, "./postrider migrate");
    desk.run("server", "--host", "0.0.0.0").failed(2, "--host: postrider.server.host", "TLS");
    desk.run("migrate").ok();
    Result created =
        desk.run("token", "create", "ann", "--role", "viewer", "--permission", "enqueue");
    String secret = created.ok();
    assertThat(secret).matches("postrider_1_\\S{43}");
    assertThat(created.err()).contains("only now").doesNotContain(secret);
    try (Running server = desk.postrider.start("server", "--port", "0")) {
      String url = url(server);
      assertThat(Http.get(url + "/v1/health/live", "none")).startsWith("200 ");
      assertThat(Http.get(url + "/v1/messages", "postrider_1_x")).startsWith("401 ");
      String message = "{\"namespace\": \"shop\", \"topic\": \"orders\", \"payload\": {\"n\": 1}}";
      assertThat(Http.post(url + "/v1/messages", secret, message)).startsWith("201 ");
      assertThat(Http.get(url + "/v1/messages?namespace=shop", secret)).contains("\"orders\"");
      assertThat(desk.run("token", "list").ok())
          .containsPattern("1 +ann +viewer,enqueue")
          .doesNotContain(secret);
      assertThat(desk.run("token", "revoke", "1").ok()).contains("revoked");
      desk.run("token", "revoke", "1").failed(1, "no token 1 in use");
      assertThat(Http.get(url + "/v1/messages", secret)).startsWith("401 ");
      String taken = url.replaceAll(".*:", "");
      desk.run("server", "--port", taken).failed(1, "the server cannot start", taken);
      Result end = server.interrupt();
      assertThat(end.exitCode()).as(end.err()).isZero();
      assertThat(end.err()).contains("stopped").doesNotContain(secret);
    }
    assertThat(desk.run("token", "list", "--json").json().get("items").toString())
        .contains("revoked_by");
    desk.run("token", "create", "bob").failed(1, "a role, or at least one permission");
    desk.run("token", "create", "bob", "--role", "king").failed(1, "viewer, operator, admin");
    desk.run("token").failed(2, "create, list or revoke?");
  }

  @Test
  void upPrintsLinesThatWorkAndKeepsItsToken() throws Exception {
    Executable postrider = Executable.in(folder);
    Path tokenFile = folder.resolve(".postrider/operator-token");
    String secret;
    try (Running up = postrider.start("up", "--port", "0")) {
      awaitUp(up);
      secret = Files.readString(tokenFile).strip();
      for (String name : List.of("operator-token", "operator-header", "up.json", "data/pgpass")) {
        assertThat(permissions(".postrider/" + name)).as(name).isEqualTo("rw-------");
      }
      assertThat(permissions(".postrider")).isEqualTo("rwx------");
      assertThat(up.err())
          .contains("Operator token: in .postrider/operator-token")
          .containsPattern("Console: http://127[.]0[.]0[.]1:[0-9]+/console/#/sign-in/\\S{32}\n")
          .doesNotContain(secret);
      List<String> lines =
          up.err().lines().map(String::strip).filter(l -> l.matches("(curl|psql) [^-].*")).toList();
      assertThat(lines).hasSize(2);
      for (String line : lines) {
        try (Running pasted = postrider.start(List.of("bash", "-c", line))) {
          pasted.awaitExit();
          assertThat(pasted.result().exitCode()).as(line + pasted.err()).isZero();
        }
      }
      streamsBy(streamLine(up), postrider, secret);
      String bare = lines.get(1).replaceFirst("[?]passfile=[^']*", "");
      assertThat(bare).isNotEqualTo(lines.get(1));
      try (Running stranger = postrider.start(List.of("bash", "-c", bare + " --no-password"))) {
        stranger.awaitExit();
        assertThat(stranger.result().exitCode()).isEqualTo(2);
        assertThat(stranger.err()).contains("no password supplied");
      }
      await().until(() -> up.out().lines().count() == 2);
      assertThat(postrider.run("tail", "--payload", "--count", "2").ok())
          .contains("ann#1", "ann#2", "{\"text\":\"hello\"}");
      assertThat(Http.get(url(up) + "/v1/metrics", secret)).contains("outbox_");
      assertThat(up.interrupt().exitCode()).as(up.err()).isZero();
      assertThat(up.err()).contains("stopping PostgreSQL").doesNotContain("Exception");
    }
    try (Running again = postrider.start("up", "--port", "0")) {
      awaitUp(again);
      assertThat(Files.readString(tokenFile).strip()).isEqualTo(secret);
      assertThat(again.interrupt().exitCode()).isZero();
    }
    Files.delete(tokenFile);
    try (Running third = postrider.start("up", "--port", "0")) {
      awaitUp(third);
      String other = Files.readString(tokenFile).strip();
      assertThat(other).isNotEqualTo(secret);
      assertThat(Http.get(url(third) + "/v1/messages?namespace=demo", secret)).startsWith("401 ");
      assertThat(Http.get(url(third) + "/v1/messages?namespace=demo", other)).startsWith("200 ");
      assertThat(third.interrupt().exitCode()).isZero();
    }
  }

  private static String streamLine(Running up) {
    Matcher found = Pattern.compile("curl -N .*").matcher(up.err());
    assertThat(found.find()).as(up.err()).isTrue();
    return found.group();
  }

  /** The token must not be in the list of processes while the pasted line runs. */
  private static void streamsBy(String line, Executable postrider, String secret) {
    String all = line.replace("/events", "/events?after=earliest");
    try (Running pasted = postrider.start(List.of("bash", "-c", "exec " + all))) {
      await().until(() -> pasted.out().contains("hello") || !pasted.process().isAlive());
      assertThat(pasted.process().isAlive()).as(line + pasted.err()).isTrue();
      assertThat(pasted.process().info().commandLine().orElseThrow())
          .contains("curl", "operator-header")
          .doesNotContain(secret);
    }
  }

  private String permissions(String file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(file)));
  }

  @Test
  void upKeepsEverythingInsideTheFolderThatIsNamed() throws Exception {
    Path shared = Files.createDirectory(folder.resolve("shared"));
    Executable postrider = Executable.in(folder);
    try (Running up = postrider.start("up", "--port", "0", "--data", "shared/own")) {
      awaitUp(up);
      try (Stream<Path> beside = Files.list(shared)) {
        assertThat(beside).containsExactly(shared.resolve("own"));
      }
      assertThat(permissions("shared/own")).isEqualTo("rwx------");
      for (String name : List.of("lock", "operator-token", "operator-header", "data/pgpass")) {
        assertThat(permissions("shared/own/" + name)).as(name).isEqualTo("rw-------");
      }
      postrider
          .run("up", "--data", "shared/own")
          .failed(1, "another ./postrider up runs on", "shared/own");
      assertThat(up.interrupt().exitCode()).as(up.err()).isZero();
    }
    postrider.run("up", "--data", "shared").failed(1, "shared has other files");
    Path planted = Files.createDirectory(folder.resolve("planted"));
    Files.setPosixFilePermissions(planted, PosixFilePermissions.fromString("rwxrwxrwx"));
    postrider.run("up", "--data", "planted").failed(1, "planted can be written by other users");
  }

  @Test
  void aFolderThatOthersMayWriteToIsNotUsed() throws Exception {
    Path planted = Files.createDirectory(folder.resolve(".postrider"));
    Path note = planted.resolve("up.json");
    Files.writeString(
        note,
        "{\"pid\": %d, \"jdbc_url\": \"jdbc:postgresql://127.0.0.1:1/theirs\"}"
            .formatted(ProcessHandle.current().pid()));
    for (Path path : List.of(planted, note)) {
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
    }
    Executable postrider = Executable.in(folder);
    postrider.run("up").failed(1, ".postrider can be written by other users");
    postrider.run("status").failed(1, "up.json can be written by other users");
  }

  @Test
  void aConfiguredDatabaseGetsNoTokenByItself() throws Exception {
    Desk desk = Desk.bare(folder);
    try (Running up = desk.postrider.start("up")) {
      awaitUp(up);
      assertThat(up.err()).contains("./postrider token create").doesNotContain("postrider_1_");
      assertThat(up.interrupt().exitCode()).isZero();
    }
    assertThat(desk.run("token", "list", "--json").json()).isEqualTo(Map.of("items", List.of()));
  }
}
