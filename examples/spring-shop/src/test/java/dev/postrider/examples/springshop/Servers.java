package dev.postrider.examples.springshop;

import dev.postrider.testkit.TestPostgres;
import dev.postrider.testkit.TestRabbit;

/** A PostgreSQL and a RabbitMQ that all tests share. */
final class Servers {
  private static final TestPostgres DATABASE = TestPostgres.startDurable();

  private Servers() {}

  static TestPostgres database() {
    return DATABASE;
  }

  static String rabbit() {
    return TestRabbit.uri();
  }
}
