package dev.postrider.cli;

import dev.postrider.cli.command.Postrider;
import dev.postrider.cli.command.StopSignal;

/** Where the executable starts. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    StopSignal.exit(Postrider.run(arguments));
  }
}
