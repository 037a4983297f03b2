package dev.postrider.cli.command;

import dev.postrider.archive.ArchiveStorageException;
import dev.postrider.cli.output.Fields;
import dev.postrider.cli.settings.SettingsException;
import dev.postrider.embedded.ForeignFileException;
import dev.postrider.message.InvalidMessageException;
import dev.postrider.message.PostriderException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns exceptions into a line or two, and an exit code. */
final class Errors implements IExecutionExceptionHandler, IParameterExceptionHandler {
  private final Context context;

  Errors(Context context) {
    this.context = context;
  }

  /** What is said, and the exit code. */
  private record Verdict(int exitCode, String text) {}

  @Override
  public int handleExecutionException(Exception error, CommandLine command, ParseResult result) {
    Verdict verdict = verdict(error);
    say(verdict);
    if (context.options().verbose) {
      StringWriter trace = new StringWriter();
      error.printStackTrace(new PrintWriter(trace));
      context.screen().note(trace.toString().stripTrailing());
    }
    return verdict.exitCode();
  }

  @Override
  public int handleParseException(ParameterException error, String[] arguments) {
    CommandLine command = error.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    String meant = "";
    if (error instanceof UnmatchedArgumentException unmatched
        && !unmatched.getSuggestions().isEmpty()) {
      meant = "\nDid you mean: " + String.join(", ", unmatched.getSuggestions()) + "?";
    }
    say(new Verdict(ExitCode.USAGE, error.getMessage() + meant + "\nTry: ./" + name + " --help"));
    return ExitCode.USAGE;
  }

  private void say(Verdict verdict) {
    if (context.json()) {
      context
          .screen()
          .json(
              new Fields()
                  .with("error", verdict.text())
                  .with("exit_code", verdict.exitCode())
                  .map());
    }
    context.screen().error(verdict.text());
  }

  private Verdict verdict(Exception error) {
    if (error instanceof Failure failure) {
      return new Verdict(failure.exitCode(), text(failure));
    } else if (error instanceof SettingsException) {
      return new Verdict(ExitCode.USAGE, text(error));
    } else if (error instanceof InvalidMessageException) {
      return new Verdict(ExitCode.USAGE, text(error));
    } else if (error instanceof SQLException sql) {
      return database(sql);
    } else if (error instanceof PostriderException
        || error instanceof ForeignFileException
        || error instanceof ArchiveStorageException) {
      return new Verdict(ExitCode.TROUBLE, text(error));
    }
    return new Verdict(ExitCode.TROUBLE, error.getClass().getSimpleName() + ": " + text(error));
  }

  private Verdict database(SQLException error) {
    String state = error.getSQLState() == null ? "" : error.getSQLState();
    if (state.startsWith("08")
        || state.startsWith("28")
        || state.startsWith("57P")
        || state.equals("3D000")
        || state.equals("53300")) {
      String where = context.shownUrl().orElse("the database");
      return new Verdict(ExitCode.UNREACHABLE, "cannot use " + where + "\n" + reason(error));
    } else if (state.equals("42P01") || state.equals("3F000") || state.equals("42883")) {
      return new Verdict(
          ExitCode.NOT_MIGRATED,
          "the schema \"%s\" is not there or older than this version; run: ./postrider migrate\n%s"
              .formatted(context.schema().name(), text(first(error))));
    } else if (state.equals("42501")) {
      String advice = "\nThe login needs a role that may; see Roles in docs/operating.md.";
      return new Verdict(
          ExitCode.TROUBLE, first(error) == error ? text(error) + advice : text(error));
    }
    return new Verdict(ExitCode.TROUBLE, "the database said: " + text(error));
  }

  /** The server's own error, where the library has added an advice. */
  private static SQLException first(SQLException error) {
    return error.getCause() instanceof SQLException cause ? cause : error;
  }

  /** The driver hides why in the cause. */
  private static String reason(SQLException error) {
    @Nullable Throwable cause = error.getCause();
    return cause != null && text(error).equals("The connection attempt failed.")
        ? cause.getClass().getSimpleName() + ": " + text(cause)
        : text(error);
  }

  private static String text(Throwable error) {
    return error.getMessage() == null ? error.toString() : error.getMessage();
  }
}
