package dev.postrider.examples.springshop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.testkit.TestPostgres;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The application with beans that Spring prepared ahead of time, as for a native image. */
@Tag("OP-5")
@Timeout(180)
class AotTest {
  @TempDir Path folder;

  @Test
  void itRunsWithBeansPreparedAheadOfTime() throws Exception {
    Path sources = folder.resolve("sources");
    Path classes = folder.resolve("classes");
    process(sources, classes);
    assertThat(reflection(classes)).contains("Mails", "OrderCreated");
    compile(sources, classes);
    TestPostgres database = Servers.database().another("aot" + System.nanoTime());
    try (ShopProcess shop =
        ShopProcess.start(
            database,
            "-Dspring.aot.enabled=true",
            "-cp",
            classes + File.pathSeparator + ShopProcess.CLASS_PATH)) {
      assertThat(shop.log()).contains("Starting AOT-processed ShopApplication");
      assertThat(shop.create("ahead", 100)).isTrue();
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(database.column("select order_id from mails"))
                      .containsExactly("ahead"));
    }
  }

  /** What {@code spring-boot:process-aot} runs. */
  private static void process(Path sources, Path classes) throws Exception {
    Process process =
        new ProcessBuilder(
                ShopProcess.java(),
                "-Xmx256m",
                "-cp",
                ShopProcess.CLASS_PATH,
                "org.springframework.boot.SpringApplicationAotProcessor",
                ShopApplication.class.getName(),
                sources.toString(),
                classes.toString(),
                classes.toString(),
                "dev.postrider",
                "shop")
            .inheritIO()
            .start();
    assertThat(process.waitFor()).isZero();
  }

  /** The hints; they are in one file or in several. */
  private static String reflection(Path classes) throws Exception {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".json")).toList()) {
        all.append(Files.readString(file));
      }
    }
    return all.toString();
  }

  private static void compile(Path sources, Path classes) throws Exception {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-nowarn",
                "-proc:none",
                "-d",
                classes.toString(),
                "-cp",
                classes + File.pathSeparator + ShopProcess.CLASS_PATH));
    try (Stream<Path> files = Files.walk(sources)) {
      files.filter(f -> f.toString().endsWith(".java")).forEach(f -> arguments.add(f.toString()));
    }
    int exit =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(String[]::new));
    assertThat(exit).isZero();
  }
}
