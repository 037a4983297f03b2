package dev.postrider.spring.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.spring.Apps;
import dev.postrider.spring.OutboxRelay;
import dev.postrider.spring.TransactionalOutbox;
import dev.postrider.spring.test.OutboxTest;
import dev.postrider.testkit.TestPostgres;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The relay is off in tests, unless a test asks for it. */
@Tag("OP-5")
class RelayInTestsTest {
  @Nested
  @SpringBootTest
  class Off {
    @Autowired ApplicationContext context;

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry properties) {
      properties.add("spring.datasource.url", ShopApplication.database()::jdbcUrl);
    }

    @Test
    void noRelay() {
      assertThat(context.getBeanNamesForType(OutboxRelay.class)).isEmpty();
    }
  }

  @Nested
  @SpringBootTest(properties = "postrider.relay.enabled=true")
  @DirtiesContext
  class On {
    @Autowired Orders orders;
    @Autowired Mails mails;

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry properties) {
      TestPostgres database = Apps.database();
      database.execute("create table orders (id text primary key)");
      database.execute("create table mail (id text)");
      properties.add("spring.datasource.url", database::jdbcUrl);
    }

    @Test
    void aRelay() {
      orders.create("1");
      await().untilAsserted(() -> assertThat(mails.attempts).containsExactly("1 1"));
    }
  }

  /** What the application sets for production does not count in a slice. */
  @Nested
  @OutboxTest
  @ActiveProfiles("relay")
  class OffInOutboxTest {
    @Autowired ApplicationContext context;

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry properties) {
      properties.add("spring.datasource.url", ShopApplication.database()::jdbcUrl);
    }

    @Test
    void noRelay() {
      assertThat(context.getBeanNamesForType(OutboxRelay.class)).isEmpty();
    }
  }

  @Nested
  @JdbcSlice
  @ActiveProfiles("relay")
  class OffInSlices {
    @Autowired ApplicationContext context;

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry properties) {
      properties.add("spring.datasource.url", ShopApplication.database()::jdbcUrl);
    }

    @Test
    void noRelay() {
      assertThat(context.getBeanNamesForType(TransactionalOutbox.class)).isNotEmpty();
      assertThat(context.getBeanNamesForType(OutboxRelay.class)).isEmpty();
    }
  }
}
