package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.schema.Migrations;
import dev.postrider.schema.Schema;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.util.ClassUtils;

/** What a native image would need beyond what Spring finds itself. */
@Tag("OP-5")
class RuntimeHintsTest {
  private final RuntimeHints hints = new RuntimeHints();

  RuntimeHintsTest() {
    new PostriderRuntimeHints().registerHints(hints, getClass().getClassLoader());
  }

  /** The files of the schema, in the engine's jar or its folder. */
  private static List<String> schemaFiles() throws Exception {
    var root =
        Objects.requireNonNull(Migrations.class.getResource("/dev/postrider/schema")).toURI();
    List<String> files = new ArrayList<>();
    if (root.getScheme().equals("jar")) {
      try (FileSystem jar = FileSystems.newFileSystem(root, Map.of());
          Stream<Path> all = Files.walk(jar.getPath("/dev/postrider/schema"))) {
        all.filter(Files::isRegularFile).forEach(file -> files.add(file.toString().substring(1)));
      }
    } else {
      Path folder = Path.of(root);
      try (Stream<Path> all = Files.walk(folder)) {
        all.filter(Files::isRegularFile)
            .forEach(file -> files.add("dev/postrider/schema/" + folder.relativize(file)));
      }
    }
    return files;
  }

  @Test
  void everyFileOfTheSchemaIsInTheImage() throws Exception {
    assertThat(new Migrations(Schema.DEFAULT).script()).isNotEmpty();
    assertThat(schemaFiles())
        .hasSizeGreaterThan(5)
        .allMatch(file -> RuntimeHintsPredicates.resource().forResource(file).test(hints));
  }

  @Test
  void whatIsCalledByNameMayBeCalled() throws Exception {
    List<String> called = new ArrayList<>(List.of(HikariDataSource.class.getName()));
    Stream.of(SpringBrokers.RABBIT, SpringBrokers.RABBIT_SETTINGS, SpringBrokers.KAFKA)
        .flatMap(List::stream)
        .filter(type -> ClassUtils.isPresent(type, getClass().getClassLoader()))
        .forEach(called::add);
    assertThat(called).hasSize(4);
    for (String type : called) {
      assertThat(
              RuntimeHintsPredicates.reflection()
                  .onType(ClassUtils.forName(type, getClass().getClassLoader()))
                  .withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS)
                  .test(hints))
          .as(type)
          .isTrue();
    }
  }
}
