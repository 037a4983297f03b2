package dev.postrider.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The units of deploy/systemd, judged by systemd's own tool. */
class SystemdUnitsTest {
  private static final Path DIRECTORY = Path.of("../deploy/systemd");
  private static final String PROGRAM = "/opt/postrider/postrider";

  @TempDir Path folder;

  record Said(int code, String text) {}

  @ParameterizedTest
  @ValueSource(strings = {"relay", "server", "migrate"})
  void systemdTakesTheUnit(String name) throws Exception {
    assertThat(verify(unit(name))).isEqualTo(new Said(0, ""));
  }

  /** A drop-in adds to its unit, so it is checked as if its lines were there. */
  @Test
  void aRelayMayWriteToItsArchive() throws Exception {
    String dropIn = Files.readString(DIRECTORY.resolve("postrider-relay-archive.conf"));
    assertThat(verify(unit("relay") + dropIn)).isEqualTo(new Said(0, ""));
    String archive = value(dropIn, "Environment=POSTRIDER_ARCHIVE_DIRECTORY");
    assertThat(value(dropIn, "ReadWritePaths")).isEqualTo(archive);
    assertThat(Files.readString(Path.of("../docs/production.md")))
        .contains(
            "install -d -m 2770 -g " + value(dropIn, "SupplementaryGroups") + " " + archive,
            DIRECTORY.getFileName() + "/postrider-relay-archive.conf ");
    assertThat(verify(unit("relay") + dropIn.replace("ReadWritePaths=/", "ReadWritePaths=")).text())
        .contains("ReadWritePaths");
  }

  private static String value(String unit, String name) {
    return unit.lines()
        .filter(line -> line.startsWith(name + "="))
        .map(line -> line.substring(name.length() + 1))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aSettingThatDoesNotExistIsFound() throws Exception {
    String wrong = unit("relay").replace("ProtectHome=", "ProtectHouse=");
    assertThat(verify(wrong).text()).contains("ProtectHouse");
  }

  /** systemd's own measure, from 0 to 10. Services that nobody hardened have 9 and more. */
  @ParameterizedTest
  @ValueSource(strings = {"relay", "server", "migrate"})
  void theUnitIsHardened(String name) throws Exception {
    Path file = Files.writeString(folder.resolve("postrider-" + name + ".service"), unit(name));
    Said said = run("security", "--offline=true", "--threshold=20", file.toString());
    assertThat(said.code()).as(said.text()).isZero();
  }

  @Test
  void everyUnitIsTested() throws IOException {
    try (Stream<Path> units = Files.list(DIRECTORY)) {
      assertThat(units.map(unit -> unit.getFileName().toString()))
          .containsExactlyInAnyOrder(
              "postrider-relay.service",
              "postrider-relay-archive.conf",
              "postrider-server.service",
              "postrider-migrate.service");
    }
  }

  private static String unit(String name) throws IOException {
    return Files.readString(DIRECTORY.resolve("postrider-" + name + ".service"));
  }

  /** The program is not installed here, and systemd looks whether it is. */
  private Said verify(String unit) throws Exception {
    Path program = Files.writeString(folder.resolve("postrider"), "#!/bin/sh\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    assertThat(unit).contains("ExecStart=" + PROGRAM + " ");
    Path file =
        Files.writeString(
            folder.resolve("postrider-trial.service"), unit.replace(PROGRAM, program.toString()));
    return run("verify", "--man=no", file.toString());
  }

  private static Said run(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("systemd-analyze", "--no-pager"));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Said(process.waitFor(), said);
  }
}
