package dev.postrider.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is tracked by git. */
class RepositoryTest {
  private static final Path ROOT = Path.of("..");
  private static final int MOST_BYTES = 200_000;

  /** Paths of files that may be larger. */
  private static final Set<String> LARGE = Set.of();

  @Test
  void noTrackedFileIsLarge() throws Exception {
    assumeTrue(Files.exists(ROOT.resolve(".git")), "not a git checkout");
    Process git = new ProcessBuilder("git", "ls-files", "-z").directory(ROOT.toFile()).start();
    String listed = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(git.waitFor()).isZero();
    List<String> large =
        Stream.of(listed.split("\0"))
            .filter(file -> !LARGE.contains(file))
            .filter(file -> ROOT.resolve(file).toFile().length() > MOST_BYTES)
            .toList();
    assertThat(large).as("tracked files over %d bytes", MOST_BYTES).isEmpty();
  }
}
