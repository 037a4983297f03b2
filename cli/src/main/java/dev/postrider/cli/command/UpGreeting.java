package dev.postrider.cli.command;

import dev.postrider.cli.output.Screen;
import dev.postrider.schema.Schema;
import java.nio.file.Path;

/** What to do first, as lines to paste. Immutable. */
record UpGreeting(Screen screen, Schema schema, String psqlUrl) {
  private static final String MESSAGE =
      """
      {"namespace": "demo", "topic": "hello", "key": "ann", "payload": {"text": "hello"}}""";

  /**
   * @param headerFile for curl: a token on its command line would be in the list of processes
   */
  void say(String url, Path tokenFile, Path headerFile, boolean demo) {
    String header = "-H " + quoted("@" + headerFile.toAbsolutePath().normalize());
    say(
        "Operator token: in " + tokenFile,
        "",
        "Send a first message, from another terminal in this folder:",
        "  ./postrider enqueue -n demo -t hello -k ann -p '{\"text\": \"hello\"}'",
        "or from anywhere on this machine:",
        "  curl %s/v1/messages %s -H 'Content-Type: application/json' -d '%s'"
            .formatted(url, header, MESSAGE),
        "  psql '%s' -c \"select * from %s.enqueue('demo', 'hello', '{}', key => 'ann')\""
            .formatted(psqlUrl, schema.name()),
        "",
        "See it arrive here, or with:  ./postrider tail --payload",
        "                              curl -N %s/v1/streams/events %s".formatted(url, header),
        "Look around with:             ./postrider status");
    if (demo) {
      say(
          "See the made-up traffic with: ./postrider tail, dead list, keys list",
          "Its failures are made up too, and are not logged here; --verbose logs them.");
    }
  }

  /** One word for a shell. */
  private static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  private void say(String... lines) {
    for (String line : lines) {
      screen.note(line);
    }
  }
}
