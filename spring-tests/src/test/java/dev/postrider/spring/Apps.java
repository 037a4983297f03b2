package dev.postrider.spring;

import dev.postrider.testkit.TestPostgres;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts real applications, each on a database of its own. */
public final class Apps {
  private static final TestPostgres SERVER = TestPostgres.start();
  private static final AtomicInteger NUMBER = new AtomicInteger();

  /** Makes applications start faster. The classes moved in Spring Boot 4. */
  static final String NO_JPA =
      "spring.autoconfigure.exclude="
          + "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration,"
          + "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
          + "org.springframework.boot.autoconfigure.data.jpa.JpaRepositoriesAutoConfiguration,"
          + "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration";

  /** For applications with two DataSources. */
  static final String NO_JPA_AND_JOOQ =
      NO_JPA
          + ",org.springframework.boot.autoconfigure.jooq.JooqAutoConfiguration"
          + ",org.springframework.boot.jooq.autoconfigure.JooqAutoConfiguration";

  static final String WITH_JPA = "spring.autoconfigure.exclude=";

  private Apps() {}

  /** A database with the outbox's schema. */
  public static TestPostgres database() {
    return SERVER.another("app" + NUMBER.incrementAndGet());
  }

  static ConfigurableApplicationContext start(
      TestPostgres database, Class<?> source, String... properties) {
    List<String> all = new ArrayList<>(Arrays.asList(properties));
    all.add(0, "spring.datasource.url=" + database.jdbcUrl());
    return start(source, all.toArray(String[]::new));
  }

  static ConfigurableApplicationContext start(Class<?> source, String... properties) {
    return start(WebApplicationType.NONE, source, properties);
  }

  /** With a web server on a free port. */
  static ConfigurableApplicationContext web(
      TestPostgres database, Class<?> source, String... properties) {
    List<String> all = new ArrayList<>(Arrays.asList(properties));
    all.add(0, "spring.datasource.url=" + database.jdbcUrl());
    all.add("server.port=0");
    return start(WebApplicationType.SERVLET, source, all.toArray(String[]::new));
  }

  private static ConfigurableApplicationContext start(
      WebApplicationType type, Class<?> source, String... properties) {
    return new SpringApplicationBuilder(source)
        .web(type)
        .properties(NO_JPA, "spring.main.banner-mode=off", "spring.jpa.open-in-view=false")
        .properties(properties)
        .run();
  }
}
