package dev.postrider.cli.command;

import dev.postrider.cli.output.Fields;
import dev.postrider.cli.output.JsonLine;
import dev.postrider.embedded.OwnerOnly;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * The note that a running {@code up} leaves, so that other commands find its database. It holds the
 * password, so only its owner can read it. Ignored once the process has ended.
 */
record UpFile(Path path) {
  /** Where {@code up} keeps everything, in the current directory. */
  static final Path DIRECTORY = Path.of(".postrider");

  /** What it says. Immutable. */
  record Running(long pid, String jdbcUrl) {}

  static UpFile here() {
    return new UpFile(DIRECTORY.resolve("up.json"));
  }

  void write(Running running) throws IOException {
    OwnerOnly.write(
        path,
        JsonLine.of(
                new Fields().with("pid", running.pid()).with("jdbc_url", running.jdbcUrl()).map())
            + "\n");
  }

  void delete() throws IOException {
    Files.deleteIfExists(path);
  }

  /** The up that runs now. */
  Optional<Running> read() throws IOException {
    if (!Files.exists(path)) {
      return Optional.empty();
    }
    OwnerOnly.requireOwn(path); // else it could lead to somebody else's database
    // YAML contains JSON.
    @Nullable Object loaded =
        new Load(LoadSettings.builder().build()).loadFromString(Files.readString(path));
    if (loaded instanceof Map<?, ?> map
        && map.get("pid") instanceof Number pid
        && map.get("jdbc_url") instanceof String url
        && ProcessHandle.of(pid.longValue()).isPresent()) {
      return Optional.of(new Running(pid.longValue(), url));
    }
    return Optional.empty();
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
