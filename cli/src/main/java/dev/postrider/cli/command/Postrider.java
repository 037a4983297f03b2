package dev.postrider.cli.command;

import dev.postrider.cli.output.Screen;
import dev.postrider.cli.output.Terminal;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command that all others belong to. */
@Command(
    name = "postrider",
    mixinStandardHelpOptions = true,
    versionProvider = Postrider.Version.class,
    scope = CommandLine.ScopeType.INHERIT,
    sortOptions = false,
    abbreviateSynopsis = true,
    synopsisHeading = "%nUsage: ",
    optionListHeading = "%nOptions:%n",
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExample:%n",
    footer = {"  ./postrider up", "  ./postrider status --url postgresql://ann@db/shop"},
    subcommands = {
      UpCommand.class,
      MigrateCommand.class,
      EnqueueCommand.class,
      RelayCommand.class,
      ServerCommand.class,
      TokenCommand.class,
      WebhookKeyCommand.class,
      StatusCommand.class,
      MessagesCommand.class,
      TailCommand.class,
      DeadCommand.class,
      KeysCommand.class,
      SubscriptionsCommand.class,
      PauseCommand.class,
      ResumeCommand.class,
      ReplayCommand.class,
      ArchiveCommand.class,
      PurgeCommand.class,
      AuditCommand.class,
      DoctorCommand.class,
      BenchCommand.class,
      ConfigCommand.class,
      ExampleCommand.class,
      GenerateCompletion.class
    })
public final class Postrider implements Callable<Integer> {
  @Mixin private final GlobalOptions options = new GlobalOptions();
  @Spec private @Nullable CommandSpec spec;

  private final Context context =
      new Context(options, System.getenv(), new Screen(Terminal.detect(System.getenv())));

  private Postrider() {}

  /** Runs a command line; returns its exit code. */
  public static int run(String[] arguments) {
    return commandLine().execute(arguments);
  }

  static CommandLine commandLine() {
    Postrider root = new Postrider();
    Errors errors = new Errors(root.context);
    Terminal terminal = root.context.screen().terminal();
    return new CommandLine(root)
        .setExecutionExceptionHandler(errors)
        .setParameterExceptionHandler(errors)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setHelpFactory(OwnOptionsHelp::new)
        .setColorScheme(Help.defaultColorScheme(terminal.colour() ? Help.Ansi.ON : Help.Ansi.OFF))
        .setUsageHelpWidth(helpWidth(terminal))
        .setExecutionStrategy(
            parsed -> {
              Logging.prepare(root.options.verbose);
              return new CommandLine.RunLast().execute(parsed);
            });
  }

  /** Lines of more than 100 columns are hard to read. */
  private static int helpWidth(Terminal terminal) {
    return terminal.columns() == Terminal.ENDLESS
        ? 80
        : Math.min(Math.max(terminal.columns(), 60), 100);
  }

  Context context() {
    return context;
  }

  @Override
  public Integer call() {
    CommandLine own = Objects.requireNonNull(spec).commandLine();
    if (options.json) {
      throw new ParameterException(own, "which command?");
    }
    own.usage(own.getOut());
    return ExitCode.USAGE;
  }

  /** The version of the jar. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      @Nullable String version = Postrider.class.getPackage().getImplementationVersion();
      return new String[] {
        "postrider " + (version == null ? "(not from its jar)" : version),
        "Java " + Runtime.version() + ", " + System.getProperty("os.name")
      };
    }
  }
}
