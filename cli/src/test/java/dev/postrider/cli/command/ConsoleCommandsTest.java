package dev.postrider.cli.command;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.postrider.server.Server;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** Every command that the web console shows is one that the executable understands. */
@Tag("OP-2")
class ConsoleCommandsTest {
  private static final List<String> FILES =
      List.of(
          "acts",
          "admin",
          "app",
          "dead",
          "fleet",
          "keys",
          "message",
          "messages",
          "overview",
          "problems",
          "query",
          "replay",
          "signin",
          "tail");

  private static final String ID = "0199a3c4-0000-7000-8000-000000000001";
  private static final String FROM_TO = " --from 2026-01-01T00:00:00Z --to 1h";
  private static final String WHERE =
      " --namespace shop --topic orders --key ann --tenant acme --event-type placed"
          + " --aggregate-type order --aggregate-id 7";

  /** What the console puts in, with everything that can be there. */
  private static final Map<String, String> EXAMPLES =
      Map.ofEntries(
          entry("id", ID),
          entry("message.id", ID),
          entry("ids.join(' ')", ID + " " + ID),
          entry("job.id", "7"),
          entry("t.id", "7"),
          entry("role", "operator"),
          entry("p.kind", "subscription"),
          entry("kind(t)", "subscription"),
          entry("quoted(topicOf(t))", "shop/orders#mail"),
          entry("quoted(p.name)", "shop/orders#mail"),
          entry("quoted(d.name)", "rail"),
          entry("quoted(reason || '…')", "why"),
          entry("quoted(name || 'NAME')", "ann"),
          entry("quoted(namespace.trim() || 'NAMESPACE')", "shop"),
          entry("quoted(key.trim() || 'KEY')", "ann"),
          entry("onlyFlag(subscription)", " --subscription mail"),
          entry("keyWords(key)", "shop ann --topic orders --subscription mail"),
          entry(
              "flags(counted(group))",
              " --namespace shop --topic orders --subscription mail --code http_422"
                  + " --fingerprint 0123456789ab --to 2026-01-01T00:00:00Z"),
          entry("actor ? ` --by ${quoted(actor)}` : ''", " --by ann"),
          entry("action ? ` --action ${quoted(action)}` : ''", " --action resume"),
          entry("payloads ? ' --permission payload:read' : ''", " --permission payload:read"),
          entry(
              "namespace ? ` --namespace ${quoted(namespace)}` : ''",
              " --namespace shop --tenant acme --lifetime 90d"),
          entry("rate ? ` --rate ${rate}` : ''", " --rate 50"),
          entry("d.paused ? 'resume' : 'pause'", "resume"),
          entry(
              "resting(query) ? 'dead list' : 'messages search'",
              "messages search --state pending" + WHERE + FROM_TO));

  /** Commands that the console's code puts together from parts. */
  private static final List<String> BUILT =
      List.of(
          "replay" + WHERE + FROM_TO + " --rate 50",
          "dead list --code http_422 --discarded" + WHERE + FROM_TO);

  static List<String> commands() throws IOException {
    List<String> found = new ArrayList<>(BUILT);
    for (String file : FILES) {
      String code = file(file);
      Matcher start = Pattern.compile("(.)\\./postrider (?!tells)").matcher(code);
      while (start.find()) {
        char quote = start.group(1).equals(">") ? '<' : start.group(1).charAt(0);
        String command = command(code, start.end(), quote == ' ' ? ' ' : quote);
        if (!found.contains(command)) {
          found.add(command);
        }
      }
    }
    return found;
  }

  private static String file(String name) throws IOException {
    try (InputStream file =
        Server.class.getResourceAsStream("/dev/postrider/server/console/" + name + ".js")) {
      return new String(Objects.requireNonNull(file, name).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String command(String code, int from, char end) {
    StringBuilder text = new StringBuilder();
    for (int i = from; code.charAt(i) != end; i++) {
      if (code.startsWith("${", i)) {
        int close = closing(code, i + 2);
        String expression = code.substring(i + 2, close);
        assertThat(EXAMPLES).as("an example for this test").containsKey(expression);
        text.append(EXAMPLES.get(expression));
        i = close;
      } else {
        text.append(code.charAt(i));
      }
    }
    return text.toString();
  }

  private static int closing(String code, int from) {
    int depth = 1;
    for (int i = from; ; i++) {
      depth += code.charAt(i) == '{' ? 1 : code.charAt(i) == '}' ? -1 : 0;
      if (depth == 0) {
        return i;
      }
    }
  }

  @ParameterizedTest
  @MethodSource("commands")
  void isUnderstood(String command) {
    CommandLine parser = Postrider.commandLine();
    assertThatCode(() -> parser.parseArgs(command.replace("'", "").split(" ")))
        .doesNotThrowAnyException();
  }
}
