package dev.postrider.cli.command;

import dev.postrider.cli.output.Screen;
import dev.postrider.store.Schema;
import java.nio.file.Path;

/** What to do first, as lines to paste. Immutable. */
record UpGreeting(Screen screen, Schema schema, String psqlUrl) {
  private static final String MESSAGE =
      """
      {"namespace": "demo", "topic": "hello", "key": "ann", "payload": {"text": "hello"}}""";

  void say(String url, String secret, Path tokenFile, boolean demo) {
    say(
        "Operator token, also in %s: %s".formatted(tokenFile, secret),
        "",
        "Send a first message, from another terminal in this folder:",
        "  ./postrider enqueue -n demo -t hello -k ann -p '{\"text\": \"hello\"}'",
        "or from anywhere on this machine:",
        "  curl %s/v1/messages -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -d '%s'"
            .formatted(url, secret, MESSAGE),
        "  psql '%s' -c \"select * from %s.enqueue('demo', 'hello', '{}', key => 'ann')\""
            .formatted(psqlUrl, schema.name()),
        "",
        "See it arrive here, or with:  ./postrider tail --payload",
        "                              curl -N %s/v1/streams/events -H 'Authorization: Bearer %s'"
            .formatted(url, secret),
        "Look around with:             ./postrider status");
    if (demo) {
      say("See the made-up traffic with:  ./postrider tail, dead list, keys list");
    }
  }

  private void say(String... lines) {
    for (String line : lines) {
      screen.note(line);
    }
  }
}
