package dev.postrider.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which package may know which; the table of ARCHITECTURE.md as code. */
class ArchitectureTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter().importPath(Path.of("target/classes"));

  /** Package to the packages of ours that it may use, besides itself. */
  private static final Map<String, List<String>> ALLOWED =
      Map.ofEntries(
          Map.entry("access", List.of("error", "internal.jdbc", "message", "operations", "schema")),
          Map.entry("archive", List.of("error", "internal.archive")),
          Map.entry(
              "deadletter",
              List.of(
                  "error", "internal.jdbc", "internal.text", "message", "operations", "schema")),
          Map.entry("destination", List.of("message")),
          Map.entry(
              "enqueue",
              List.of(
                  "error",
                  "internal.jdbc",
                  "internal.protocol",
                  "internal.text",
                  "message",
                  "schema")),
          Map.entry("envelope", List.of("internal.envelope", "internal.text", "message")),
          Map.entry("error", List.of("internal.jdbc", "message")),
          Map.entry("inbox", List.of("error", "message", "schema")),
          Map.entry("internal.archive", List.of("archive", "error", "internal.jdbc", "schema")),
          Map.entry(
              "internal.claim", List.of("internal.protocol", "internal.text", "message", "schema")),
          Map.entry(
              "internal.dispatch",
              List.of("destination", "internal.protocol", "internal.text", "message", "observe")),
          Map.entry("internal.envelope", List.of("message")),
          Map.entry("internal.jdbc", List.of("error", "message", "schema")),
          Map.entry(
              "internal.monitor",
              List.of(
                  "deadletter",
                  "error",
                  "internal.jdbc",
                  "internal.text",
                  "message",
                  "operations",
                  "schema")),
          Map.entry("internal.protocol", List.of("message")),
          Map.entry(
              "internal.retention",
              List.of(
                  "archive",
                  "error",
                  "internal.archive",
                  "internal.jdbc",
                  "internal.text",
                  "internal.wake",
                  "message",
                  "observe",
                  "retention",
                  "schema")),
          Map.entry("internal.settle", List.of("internal.protocol", "message", "schema")),
          Map.entry(
              "internal.stream",
              List.of(
                  "error",
                  "internal.jdbc",
                  "internal.text",
                  "internal.wake",
                  "message",
                  "operations",
                  "schema",
                  "stream")),
          Map.entry("internal.text", List.of("error", "message")),
          Map.entry("internal.wake", List.of("internal.text", "schema", "wake")),
          Map.entry("jackson", List.of("message")),
          Map.entry(
              "lease",
              List.of(
                  "error",
                  "internal.claim",
                  "internal.jdbc",
                  "internal.text",
                  "message",
                  "schema")),
          Map.entry("message", List.of()),
          Map.entry("observe", List.of("internal.text", "message", "schema")),
          Map.entry(
              "operations",
              List.of("error", "internal.jdbc", "internal.text", "message", "schema")),
          Map.entry("replay", List.of("error", "internal.jdbc", "internal.text", "schema")),
          Map.entry("retention", List.of("archive", "message")),
          Map.entry(
              "schema", List.of("internal.jdbc", "internal.protocol", "internal.text", "message")),
          Map.entry(
              "stream", List.of("destination", "error", "internal.jdbc", "message", "schema")),
          Map.entry("wake", List.of()));

  @Test
  void packagesKnowOnlyTheListed() {
    ALLOWED.forEach(
        (name, allowed) -> {
          List<String> packages = new ArrayList<>(List.of("dev.postrider." + name));
          allowed.forEach(other -> packages.add("dev.postrider." + other));
          classes()
              .that()
              .resideInAPackage("dev.postrider." + name)
              .should()
              .onlyDependOnClassesThat()
              .resideInAnyPackage(withLibraries(packages))
              .allowEmptyShould(true)
              .check(CLASSES);
        });
  }

  private static String[] withLibraries(List<String> ours) {
    List<String> all = new ArrayList<>(ours);
    all.addAll(
        List.of(
            "java..",
            "javax.net..",
            "javax.sql..",
            "org.slf4j..",
            "org.postgresql..",
            "org.jspecify.."));
    all.add("io.micrometer..");
    all.addAll(List.of("tools.jackson..", "com.fasterxml.jackson.."));
    return all.toArray(String[]::new);
  }

  @Test
  void everyPackageIsInTheTable() {
    List<String> known = new ArrayList<>(List.of("dev.postrider.relay"));
    ALLOWED.keySet().forEach(name -> known.add("dev.postrider." + name));
    classes().should().resideInAnyPackage(known.toArray(String[]::new)).check(CLASSES);
  }

  @Test
  void destinationsNeverSeeTheDatabase() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "dev.postrider.destination",
            "dev.postrider.internal.dispatch",
            "dev.postrider.internal.protocol",
            "dev.postrider.message")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.sql..", "javax.sql..", "org.postgresql..")
        .check(CLASSES);
  }

  @Test
  void micrometerIsFenced() {
    noClasses()
        .that()
        .haveNameNotMatching(".*\\.observe\\.(Micrometer|\\w+Meters).*")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.micrometer..")
        .check(CLASSES);
  }

  @Test
  void jacksonIsFenced() {
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.postrider.jackson")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("tools.jackson..", "com.fasterxml..", "dev.postrider.jackson")
        .check(CLASSES);
    Map.of("Jackson2Codec", "tools.jackson..", "Jackson3Codec", "com.fasterxml..")
        .forEach(
            (codec, other) ->
                noClasses()
                    .that()
                    .haveSimpleName(codec)
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage(other)
                    .check(CLASSES));
  }

  @Test
  void nothingPrintsOrSleeps() {
    noClasses()
        .that()
        .doNotHaveSimpleName("Pacer") // the rate limit of a replay
        .and()
        .doNotHaveSimpleName("Archive") // between two tries to lock a partition
        .should()
        .callMethod(Thread.class, "sleep", long.class)
        .check(CLASSES);
    noClasses().should().accessField(System.class, "out").check(CLASSES);
    noClasses().should().accessField(System.class, "err").check(CLASSES);
  }
}
