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
          Map.entry("message", List.of()),
          Map.entry("jackson", List.of("message")),
          Map.entry("store", List.of("message")),
          Map.entry("observe", List.of("message", "store")),
          Map.entry("enqueue", List.of("message", "observe", "store")),
          Map.entry("wake", List.of("message", "observe", "store")),
          Map.entry("claim", List.of("message", "store")),
          Map.entry("dispatch", List.of("message", "observe")),
          Map.entry("envelope", List.of("message")),
          Map.entry("settle", List.of("message", "store")),
          Map.entry("archive", List.of("message", "store")),
          Map.entry("retention", List.of("message", "store", "observe", "wake", "archive")),
          Map.entry("deadletter", List.of("message", "store")),
          Map.entry("replay", List.of("message", "store")),
          Map.entry("access", List.of("message", "store")),
          Map.entry("inbox", List.of("message", "store")),
          Map.entry(
              "stream", List.of("message", "store", "dispatch", "envelope", "observe", "wake")));

  @Test
  void stagesKnowOnlyTheVocabularyAndTheStore() {
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
        .resideInAnyPackage("dev.postrider.dispatch", "dev.postrider.message")
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
