package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.testkit.TestPostgres;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What an application hears that cannot start as it is configured. */
@Tag("OP-5")
@ExtendWith(OutputCaptureExtension.class)
class StartTest {
  private static final String NO_DATABASE =
      Apps.NO_JPA
          + ",org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration"
          + ",org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Plain {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Publisher {
    @Bean
    String publishes(TransactionalOutbox outbox) {
      return outbox.getClass().getName();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class TwoDataSources {
    @Bean
    DataSource one() {
      return DataSourceBuilder.create().url("jdbc:postgresql://127.0.0.1:1/one").build();
    }

    @Bean
    DataSource two() {
      return DataSourceBuilder.create().url("jdbc:postgresql://127.0.0.1:1/two").build();
    }
  }

  @Test
  void withoutADataSourceNothingIsAdded() {
    try (var app = Apps.start(Plain.class, NO_DATABASE)) {
      assertThat(app.getBeanNamesForType(TransactionalOutbox.class)).isEmpty();
      assertThat(app.getBeanDefinitionNames())
          .noneMatch(name -> name.startsWith("postrider"))
          .noneMatch(name -> name.startsWith("dev.postrider"));
    }
  }

  @Test
  void whoNeedsAnOutboxIsToldAboutTheDataSource(CapturedOutput output) {
    assertThatThrownBy(() -> Apps.start(Publisher.class, NO_DATABASE));
    assertThat(output).contains("has no DataSource").contains("spring-boot-starter-jdbc");
  }

  @Test
  void twoDataSourcesNeedAName(CapturedOutput output) {
    assertThatThrownBy(() -> Apps.start(TwoDataSources.class));
    assertThat(output).contains("several DataSources").contains("postrider.data-source");
  }

  @Test
  void theSchemaIsMadeAtStart() {
    TestPostgres database = Apps.database();
    database.execute("drop schema postrider cascade");
    try (var app = Apps.start(database, Plain.class)) {
      assertThat(app.isRunning()).isTrue();
    }
    assertThat(database.count("select count(*) from postrider.migration")).isPositive();
  }

  @Test
  void aMissingSchemaIsReportedIfItMayNotBeMade(CapturedOutput output) {
    TestPostgres database = Apps.database();
    database.execute("drop schema postrider cascade");
    assertThatThrownBy(() -> Apps.start(database, Plain.class, "postrider.migrate=false"));
    assertThat(output)
        .contains("The schema \"postrider\" is missing")
        .contains("Set postrider.migrate=true");
  }

  @Test
  void anOldSchemaIsReportedIfItMayNotBeUpgraded(CapturedOutput output) {
    TestPostgres database = Apps.database();
    database.execute("delete from postrider.migration where file = 'functions'");
    assertThatThrownBy(() -> Apps.start(database, Plain.class, "postrider.migrate=false"));
    assertThat(output).contains("is older than this version").contains("it lacks functions");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "postrider.migrat",
        "postrider.relay.pol-interval",
        "postrider.destinations.broker.exchnge",
        "postrider.outboxes.billing.retention.mesages"
      })
  void aPropertyThatDoesNotExistIsReported(String name, CapturedOutput output) {
    TestPostgres database = Apps.database();
    String[] settings = {name + "=1", "postrider.destinations.broker.type=stream"};
    assertThatThrownBy(() -> Apps.start(database, Plain.class, settings));
    assertThat(output).contains(name).contains("left unbound");
  }

  @Test
  void aSchemaThatCannotHaveItsNameIsReported(CapturedOutput output) {
    TestPostgres database = Apps.database();
    assertThatThrownBy(() -> Apps.start(database, Plain.class, "postrider.schema=Bad-Name"));
    assertThat(output).contains("Bad-Name").contains("Set postrider.schema to another name.");
  }

  @Test
  void anotherDatabaseThanPostgresIsReported(CapturedOutput output) {
    assertThatThrownBy(() -> Apps.start(Plain.class, "spring.datasource.url=jdbc:h2:mem:shop"));
    assertThat(output)
        .contains("The DataSource of the outbox is on H2. Postrider needs PostgreSQL.")
        .contains("@AutoConfigureTestDatabase(replace = Replace.NONE)");
  }

  @Test
  void itCanBeSwitchedOff() {
    TestPostgres database = Apps.database();
    try (var app = Apps.start(database, Plain.class, "postrider.enabled=false")) {
      assertThat(app.getBeanNamesForType(TransactionalOutbox.class)).isEmpty();
    }
  }
}
