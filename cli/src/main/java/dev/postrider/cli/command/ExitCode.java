package dev.postrider.cli.command;

/** What the process says when it ends; part of the interface, see docs/cli.md. */
final class ExitCode {
  static final int OK = 0;

  /** Trouble was found, or what was asked for failed or was refused. */
  static final int TROUBLE = 1;

  /** Wrong usage or configuration; nothing was tried. */
  static final int USAGE = 2;

  /** The database cannot be reached, or refuses the login. */
  static final int UNREACHABLE = 3;

  /** The schema is not there, or older than this version. */
  static final int NOT_MIGRATED = 4;

  private ExitCode() {}
}
