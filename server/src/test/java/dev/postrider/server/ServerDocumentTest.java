package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.server.api.Endpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The page about the server lists what there is, all of it. */
@Tag("OP-3")
class ServerDocumentTest {
  private static final Path PAGE = Path.of("../docs/reference/server.md");

  @Test
  void everyEndpointIsListedWithItsPermission() throws Exception {
    Set<String> listed = new TreeSet<>();
    Matcher row =
        Pattern.compile("(?m)^\\| `([A-Z]+ /\\S+)` \\| `?([a-z:]+)`? \\| (.*) \\|$")
            .matcher(Files.readString(PAGE));
    while (row.find()) {
      listed.add(
          row.group(1) + " " + row.group(2) + (row.group(3).endsWith("; scoped") ? " scoped" : ""));
    }
    try (Desk desk = Desk.open()) {
      assertThat(listed)
          .isEqualTo(
              desk.server.endpoints().stream()
                  .map(ServerDocumentTest::line)
                  .collect(Collectors.toCollection(TreeSet::new)));
    }
  }

  private static String line(Endpoint endpoint) {
    Permission needed = endpoint.guard().permission();
    return endpoint.name()
        + (needed == null
            ? " none"
            : " " + needed.label() + (endpoint.guard().scoped() ? " scoped" : ""));
  }

  @Test
  void everyPermissionIsListedWithItsRoles() throws Exception {
    String page = Files.readString(PAGE);
    for (Permission permission : Permission.values()) {
      Matcher row =
          Pattern.compile(
                  "(?m)^\\| `" + permission.label() + "` \\| [^|]+\\|(.*)\\|(.*)\\|(.*)\\|$")
              .matcher(page);
      assertThat(row.find()).as(permission.label()).isTrue();
      int column = 0;
      for (Role role : Role.values()) {
        column++;
        assertThat(row.group(column).trim().equals("yes"))
            .as(role + " " + permission)
            .isEqualTo(role.permissions().contains(permission));
      }
    }
  }
}
