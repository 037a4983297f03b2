package dev.postrider.spring.alone;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The starter brings no dependency that its user did not ask for. Maven wrote the list. */
@Tag("OP-5")
class DependenciesTest {
  private static final Pattern ARTIFACT = Pattern.compile("([\\w.-]+:[\\w.-]+):jar:");

  @Test
  void theStarterBringsTheEngineAndItsDriver() throws Exception {
    String list = Files.readString(Path.of("target/dependencies.txt"));
    assertThat(ARTIFACT.matcher(list).results().map(found -> found.group(1)))
        .containsExactlyInAnyOrder(
            "dev.postrider:postrider-spring-boot-starter",
            "dev.postrider:postrider-core",
            "org.jspecify:jspecify",
            "org.checkerframework:checker-qual", // of the driver
            "org.postgresql:postgresql",
            "org.slf4j:slf4j-api");
  }
}
