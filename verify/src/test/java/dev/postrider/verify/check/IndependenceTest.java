package dev.postrider.verify.check;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The checker must not share a mistake with the engine. */
class IndependenceTest {
  @Test
  void journalsAndCheckerKnowNothingOfTheEngine() {
    classes()
        .that()
        .resideInAnyPackage("dev.postrider.verify.journal", "dev.postrider.verify.check")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "java..",
            "org.jspecify.annotations",
            "dev.postrider.verify.journal",
            "dev.postrider.verify.check")
        .check(
            new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("dev.postrider.verify"));
  }
}
