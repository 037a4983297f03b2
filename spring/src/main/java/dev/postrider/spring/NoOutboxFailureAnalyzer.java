package dev.postrider.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Without a DataSource there is no outbox to inject. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class NoOutboxFailureAnalyzer extends AbstractFailureAnalyzer<NoSuchBeanDefinitionException> {
  @Override
  protected @Nullable FailureAnalysis analyze(
      Throwable rootFailure, NoSuchBeanDefinitionException cause) {
    if (!TransactionalOutbox.class.equals(cause.getBeanType())) {
      return null;
    }
    if (String.valueOf(cause.getMessage()).contains("annotation.Qualifier(")) {
      return new FailureAnalysis(
          "A TransactionalOutbox with a qualifier is needed, and there is none: "
              + cause.getMessage(),
          "Define postrider.outboxes.NAME.data-source, where NAME is the qualifier.",
          rootFailure);
    }
    return new FailureAnalysis(
        "A TransactionalOutbox is needed, but the application has no DataSource, or"
            + " postrider.enabled is false, or this is a test of a slice without an outbox.",
        "Add spring-boot-starter-jdbc or spring-boot-starter-data-jpa and set"
            + " spring.datasource.url to a PostgreSQL database, or define a DataSource bean. In a"
            + " test, use @OutboxTest instead of a slice such as @DataJpaTest or @JdbcTest.",
        rootFailure);
  }
}
