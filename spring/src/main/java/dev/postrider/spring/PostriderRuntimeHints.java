package dev.postrider.spring;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** For native images: resources of the engine, and the types whose properties are read by name. */
final class PostriderRuntimeHints implements RuntimeHintsRegistrar {
  private static final List<String> READ =
      List.of(
          "com.zaxxer.hikari.HikariConfig",
          "com.zaxxer.hikari.HikariDataSource",
          "org.apache.commons.dbcp2.BasicDataSource",
          "org.apache.tomcat.jdbc.pool.DataSource",
          "org.apache.tomcat.jdbc.pool.DataSourceProxy",
          "org.springframework.jdbc.datasource.DataSourceTransactionManager",
          "org.springframework.jdbc.support.JdbcTransactionManager",
          "org.springframework.orm.jpa.JpaTransactionManager");

  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader classes) {
    hints.resources().registerPattern("dev/postrider/schema/*");
    hints.resources().registerPattern("dev/postrider/schema/tables/*");
    hints.resources().registerPattern("dev/postrider/schema/functions/*");
    List<String> read = new ArrayList<>(READ);
    read.addAll(SpringBrokers.KAFKA);
    read.addAll(SpringBrokers.RABBIT);
    SpringBrokers.RABBIT.forEach(details -> read.add(details + "$Address"));
    for (String settings : SpringBrokers.RABBIT_SETTINGS) {
      read.add(settings);
      read.add(settings + "$Ssl");
    }
    for (String type : read) {
      hints.reflection().registerTypeIfPresent(classes, type, MemberCategory.INVOKE_PUBLIC_METHODS);
    }
  }
}
