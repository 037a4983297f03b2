package dev.postrider.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The files of others are the ones that their page lists, unchanged, with their licences. */
@Tag("OP-2")
class VendoredTest {
  private static final Path FOLDER =
      Path.of("src/main/resources/dev/postrider/server/console/vendor");

  @Test
  void everyFileIsListedWithItsChecksumAndLicence() throws Exception {
    Matcher row =
        Pattern.compile(
                "(?m)^\\| `([a-z.-]+)` \\| [a-z]+ [0-9.]+ \\| `\\S+` \\| `([0-9a-f]{64})` \\| (.*) \\|$")
            .matcher(Files.readString(FOLDER.resolve("README.md")));
    Set<String> listed = new TreeSet<>(Set.of("README.md"));
    while (row.find()) {
      byte[] bytes = Files.readAllBytes(FOLDER.resolve(row.group(1)));
      String hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
      assertThat(hash).as(row.group(1)).isEqualTo(row.group(2));
      listed.add(row.group(1));
      Matcher licence = Pattern.compile("\\(([\\w.-]+\\.LICENSE\\.txt)\\)").matcher(row.group(3));
      while (licence.find()) {
        assertThat(Files.size(FOLDER.resolve(licence.group(1)))).isGreaterThan(500);
        listed.add(licence.group(1));
      }
    }
    try (Stream<Path> files = Files.list(FOLDER)) {
      assertThat(files.map(file -> file.getFileName().toString()).collect(Collectors.toSet()))
          .isEqualTo(listed)
          .hasSizeGreaterThan(4);
    }
  }
}
