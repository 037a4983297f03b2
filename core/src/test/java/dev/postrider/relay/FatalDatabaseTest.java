package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.schema.Migrations;
import dev.postrider.schema.Roles;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** What only people can mend: the status says so and how, and the relay goes on once it is. */
class FatalDatabaseTest {
  @AutoClose private final Post post = new Post(TestDatabase.empty(TestDatabase.NEWEST));

  private Relay start(DataSource dataSource) {
    return post.start(
        Relay.builder(dataSource)
            .config(Post.config())
            .destination("here", post.taking())
            .route("shop", "*", "here"));
  }

  private static void untilRefused(Relay relay, String... said) {
    await().until(() -> relay.status().failure() != null);
    assertThat(relay.status().failure()).contains(said);
    assertThat(relay.status().running()).isFalse();
  }

  private void untilItCarries(Relay relay) {
    post.send("orders", "k", 1);
    post.untilEmpty();
    await().until(() -> relay.status().running());
    assertThat(relay.status().failure()).isNull();
  }

  private void migrate() throws SQLException {
    new Migrations(Schema.DEFAULT).apply(post.database.dataSource());
  }

  @Test
  void aMissingSchema() throws Exception {
    Relay relay = start(post.database.dataSource());
    untilRefused(relay, "\"postrider\" is missing", "new Migrations", "./postrider migrate");
    migrate();
    untilItCarries(relay);
  }

  @Test
  void anOlderSchema() throws Exception {
    migrate();
    String last = post.database.value("select max(file) from postrider.migration");
    post.database.execute("create table kept as select * from postrider.migration");
    post.database.execute("delete from postrider.migration where file = '" + last + "'");
    Relay relay = start(post.database.dataSource());
    untilRefused(relay, "older than this version of Postrider", "it lacks " + last);
    post.database.execute(
        "insert into postrider.migration select * from kept where file = '" + last + "'");
    untilItCarries(relay);
  }

  @Test
  void aLaterSchemaIsServed() throws Exception {
    migrate();
    post.database.execute(
        "insert into postrider.migration (file, checksum) values ('V999__later.sql', '')");
    untilItCarries(start(post.database.dataSource()));
  }

  @Test
  void aMissingPrivilege() throws Exception {
    migrate();
    post.database.execute("create role refused_relay login password 'x'");
    PGSimpleDataSource login = new PGSimpleDataSource();
    login.setUrl(post.database.jdbcUrl());
    login.setUser("refused_relay");
    login.setPassword("x");
    Relay relay = start(login);
    untilRefused(relay, "permission denied", "grant postrider_relay to");
    try (Connection owner = post.database.dataSource().getConnection()) {
      new Roles(Schema.DEFAULT).apply(owner);
    }
    post.database.execute("grant postrider_relay to refused_relay");
    untilItCarries(relay);
    post.database.execute("revoke execute on function postrider.reap_from from postrider_relay");
    untilRefused(relay, "reap: ", "permission denied for function");
  }

  @Test
  void aMissingDatabase() {
    PGSimpleDataSource nowhere = new PGSimpleDataSource();
    nowhere.setUrl(post.database.jdbcUrl());
    nowhere.setDatabaseName("nowhere");
    untilRefused(start(nowhere), "connect: ", "\"nowhere\" does not exist");
  }
}
