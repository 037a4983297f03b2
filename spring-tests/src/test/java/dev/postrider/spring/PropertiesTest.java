package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.spring.TopologyProperties.Binding;
import dev.postrider.spring.TopologyProperties.DeadLetters;
import dev.postrider.spring.TopologyProperties.Exchange;
import dev.postrider.spring.TopologyProperties.Queue;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every property is described for IDEs and documented, and no other one is. */
@Tag("OP-5")
class PropertiesTest {
  private static final Path DOCS = Path.of("../../docs");

  /** The description of properties for IDEs, which the compiler writes. */
  private static List<MatchResult> properties() throws Exception {
    URL starter = PostriderProperties.class.getProtectionDomain().getCodeSource().getLocation();
    try (URLClassLoader metadata = new URLClassLoader(new URL[] {starter}, null);
        InputStream file =
            metadata.getResourceAsStream("META-INF/spring-configuration-metadata.json")) {
      String json = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
      String list = json.substring(json.indexOf("\"properties\""));
      return Pattern.compile("\\{\\s*\"name\": \"([^\"]+)\"[^}]*\\}")
          .matcher(list)
          .results()
          .toList();
    }
  }

  @Test
  void everyPropertyIsDescribedForIdes() throws Exception {
    assertThat(properties())
        .hasSizeGreaterThan(30)
        .allSatisfy(property -> assertThat(property.group()).contains("\"description\""));
  }

  /** What can be set according to the types, and not according to the compiler's description. */
  @Test
  void everyPropertyIsInTheDescription() throws Exception {
    Set<String> described =
        properties().stream().map(property -> property.group(1)).collect(Collectors.toSet());
    assertThat(described).containsAll(names("postrider", PostriderProperties.class));
  }

  private static List<String> names(String prefix, Class<?> type) {
    List<String> names = new ArrayList<>();
    for (RecordComponent component : type.getRecordComponents()) {
      String name = prefix + "." + kebab(component.getName());
      if (component.getType().isRecord()) {
        names.addAll(names(name, component.getType()));
      } else {
        names.add(name);
      }
    }
    return names;
  }

  private static String kebab(String name) {
    return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }

  @Test
  void everyPropertyIsInTheTable() throws Exception {
    String page = Files.readString(DOCS.resolve("spring.md"));
    String configuration = Files.readString(DOCS.resolve("cli.md"));
    Set<String> missing = new TreeSet<>();
    for (String name : names("postrider", PostriderProperties.class)) {
      String last = name.substring(name.lastIndexOf('.') + 1);
      boolean listed =
          page.contains("`" + name)
              || page.contains("`" + last + "`")
              || name.matches("postrider\\.(retention|archive\\.s3)\\..*")
                  && configuration.contains(last);
      if (!listed) {
        missing.add(name);
      }
    }
    assertThat(missing).isEmpty();
  }

  /** The table refers to the pages of the destinations. */
  @Test
  void everySettingOfADestinationIsOnAPage() throws Exception {
    StringBuilder pages = new StringBuilder(Files.readString(DOCS.resolve("spring.md")));
    for (String page : List.of("rabbitmq", "kafka", "webhook")) {
      pages.append(Files.readString(DOCS.resolve("destinations/" + page + ".md")));
    }
    List<String> names = new ArrayList<>(names("", DestinationProperties.class));
    for (Class<?> type : List.of(Exchange.class, Queue.class, Binding.class, DeadLetters.class)) {
      names.addAll(names("", type));
    }
    assertThat(names)
        .hasSizeGreaterThan(40)
        .allSatisfy(
            name ->
                assertThat(pages)
                    .containsPattern("[`.]" + name.substring(name.lastIndexOf('.') + 1) + "`"));
  }

  @Test
  void thePropertiesOfTheTableExist() throws Exception {
    Set<String> known =
        properties().stream().map(property -> property.group(1)).collect(Collectors.toSet());
    List<String> listed =
        Files.readString(DOCS.resolve("spring.md"))
            .lines()
            .filter(line -> line.startsWith("| `postrider."))
            .map(line -> line.substring(3, line.indexOf('`', 3)))
            .filter(name -> !name.contains("NAME") && !name.contains("[]"))
            .toList();
    assertThat(listed).hasSizeGreaterThan(20).allMatch(known::contains);
  }
}
