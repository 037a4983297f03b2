package dev.postrider.cli.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** A page of the documentation. Immutable. */
public record Page(String text) {
  public static Page of(String name) throws IOException {
    return new Page(Files.readString(Path.of("../docs").resolve(name)));
  }

  List<MatchResult> find(String pattern) {
    return Pattern.compile(pattern, Pattern.DOTALL | Pattern.MULTILINE)
        .matcher(text)
        .results()
        .toList();
  }

  /** The only example of a configuration. */
  public String yaml() {
    return find("```yaml\n(.*?)```").get(0).group(1);
  }

  /** What stands under this heading, up to the next one. */
  Page section(String heading) {
    return new Page(find("^## " + Pattern.quote(heading) + "$(.*?)(?=^## |\\z)").get(0).group(1));
  }
}
