package dev.postrider.spring.shop;

import dev.postrider.spring.Apps;
import dev.postrider.testkit.TestPostgres;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application as a user would write it, for the tests of this package. */
@SpringBootApplication
class ShopApplication {
  private static final TestPostgres DATABASE = Apps.database();

  static {
    DATABASE.execute("create table orders (id text primary key)");
    DATABASE.execute("create table mail (id text)");
  }

  /** One database for all contexts, as with tests of real applications. */
  static TestPostgres database() {
    return DATABASE;
  }
}
