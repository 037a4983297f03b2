package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import java.security.SecureRandom;
import java.util.Base64;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Makes a key that webhooks are signed with. */
@Command(
    name = "webhook-key",
    description = {
      "Create a key for signing webhooks and print it. It is not stored.",
      "Give it to the receiver, and to the relay: as keys of the destination, or in a file that"
          + " keys-file names."
    },
    footer = {
      "  ./postrider webhook-key > rail.key",
      "  POSTRIDER_DESTINATIONS_RAIL_KEYS_FILE=rail.key ./postrider relay"
    })
final class WebhookKeyCommand extends PostriderCommand {
  private static final int BYTES_MIN = 24;
  private static final int BYTES_MAX = 64;

  @Option(
      names = "--bytes",
      paramLabel = "N",
      description = "Random bytes, 24 to 64; 32 by default.")
  int bytes = 32;

  @Override
  int run(Context context) {
    if (bytes < BYTES_MIN || bytes > BYTES_MAX) {
      throw usage("--bytes: expected %d to %d, got %d".formatted(BYTES_MIN, BYTES_MAX, bytes));
    }
    byte[] secret = new byte[bytes];
    new SecureRandom().nextBytes(secret);
    String key = "whsec_" + Base64.getEncoder().encodeToString(secret);
    if (context.json()) {
      screen().json(new Fields().with("key", key).map());
    } else {
      screen().line(key);
    }
    return ExitCode.OK;
  }
}
