package dev.postrider.internal.jdbc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Clock;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DatabaseClockTest {
  @Test
  @Tag("EN-9")
  void whatDecidesAboutLeasesAsksNoClockOfThisMachine() {
    JavaClasses classes =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(
                "dev.postrider.message",
                "dev.postrider.lease",
                "dev.postrider.schema",
                "dev.postrider.operations",
                "dev.postrider.internal.jdbc",
                "dev.postrider.internal.protocol",
                "dev.postrider.internal.claim",
                "dev.postrider.internal.settle");
    noClasses()
        .should()
        .callMethod(Instant.class, "now")
        .orShould()
        .callMethod(OffsetDateTime.class, "now")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Clock.class)
        .check(classes);
  }
}
