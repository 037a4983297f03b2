package dev.postrider.cli.command;

import dev.postrider.message.PostriderException;

/** Ends a command with one or two clear lines and an exit code. */
final class Failure extends PostriderException {
  private static final long serialVersionUID = 1L;
  private final int exitCode;

  Failure(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }
}
