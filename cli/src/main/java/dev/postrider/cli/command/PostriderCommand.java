package dev.postrider.cli.command;

import dev.postrider.cli.output.Screen;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What all commands start from. */
abstract class PostriderCommand implements Callable<Integer> {
  @Spec @Nullable CommandSpec spec;

  final Context context() {
    Object root = Objects.requireNonNull(spec).root().userObject();
    return ((Postrider) root).context();
  }

  final Screen screen() {
    return context().screen();
  }

  /** Options that make no sense together, or not at all. */
  final ParameterException usage(String problem) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), problem);
  }

  @Override
  public final Integer call() throws Exception {
    return run(context());
  }

  abstract int run(Context context) throws Exception;
}
