package dev.postrider.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.RefusedException;
import dev.postrider.schema.Schema;
import dev.postrider.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("OP-3")
class TokensTest {
  private static final TestDatabase DATABASE = TestDatabase.create();
  private static final Tokens TOKENS = new Tokens(DATABASE.dataSource(), Schema.DEFAULT);

  @Test
  void aSecretIsShownOnceAndStoredNowhere() throws Exception {
    CreatedToken created =
        TOKENS.create(
            "tests",
            NewToken.of("grafana", Role.VIEWER)
                .with(Permission.PAYLOAD_READ)
                .within(new Scope("t", "n", List.of("b", "a,b"))));
    assertThat(created.secret()).matches("postrider_" + created.id() + "_[A-Za-z0-9_-]{43}");
    assertThat(created.toString()).doesNotContain(created.secret());
    String random = created.secret().substring(created.secret().indexOf('_', 10) + 1);
    for (String table : List.of("token", "audit")) {
      assertThat(DATABASE.column("select t::text from postrider." + table + " t").toString())
          .contains("grafana")
          .doesNotContain(random);
    }
    assertThat(
            DATABASE.value(
                "select hash = sha256('"
                    + random
                    + "') from postrider.token"
                    + " where name = 'grafana'"))
        .isEqualTo("t");

    Token token = TOKENS.check(created.secret()).orElseThrow();
    assertThat(token.name()).isEqualTo("grafana");
    assertThat(token.scope()).isEqualTo(new Scope("t", "n", List.of("a,b", "b")));
    assertThat(token.permissions())
        .isEqualTo(
            Set.of(
                Permission.READ, Permission.STREAM, Permission.METRICS, Permission.PAYLOAD_READ));
    assertThat(TOKENS.list(0, 100)).extracting(Token::name).contains("grafana");
  }

  @Test
  void whatIsNotTheSecretIsNoSecret() throws Exception {
    CreatedToken created = TOKENS.create("tests", NewToken.of("strict", Role.ADMIN));
    CreatedToken other = TOKENS.create("tests", NewToken.of("other", Role.ADMIN));
    String secret = created.secret();
    assertThat(TOKENS.check(secret)).isPresent();
    for (String wrong :
        List.of(
            "",
            "postrider_",
            secret + "a",
            secret.substring(0, secret.length() - 1),
            secret.toUpperCase(java.util.Locale.ROOT),
            secret.replaceFirst("_[0-9]+_", "_" + other.id() + "_"),
            secret.replaceFirst("_[0-9]+_", "_99999999999999999999_"),
            secret.replaceFirst("_[0-9]+_", "_-1_"))) {
      assertThat(TOKENS.check(wrong)).as(wrong).isEmpty();
    }
  }

  @Test
  void revokedAndExpiredTokensAreNoLongerGood() throws Exception {
    CreatedToken revoked = TOKENS.create("tests", NewToken.of("revoked", Role.ADMIN));
    assertThat(TOKENS.revoke("boss", revoked.id())).isTrue();
    assertThat(TOKENS.revoke("boss", revoked.id())).isFalse();
    assertThat(TOKENS.check(revoked.secret())).isEmpty();
    assertThat(
            DATABASE.value(
                "select actor || ' ' || (detail ->> 'name') from postrider.audit"
                    + " where action = 'token.revoke'"))
        .isEqualTo("boss revoked");

    CreatedToken expiring =
        TOKENS.create("tests", NewToken.of("expiring", Role.ADMIN).expiringIn(Duration.ofHours(1)));
    assertThat(TOKENS.check(expiring.secret())).isPresent();
    DATABASE.execute(
        "update postrider.token set expires_at = expires_at - interval '1 h' where name ="
            + " 'expiring'");
    assertThat(TOKENS.check(expiring.secret())).isEmpty();
  }

  @Test
  void aNameIsUniqueWhileItIsInUse() throws Exception {
    CreatedToken first = TOKENS.create("tests", NewToken.of("deploy", Role.ADMIN));
    assertThatThrownBy(() -> TOKENS.create("tests", NewToken.of("deploy", Role.VIEWER)))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("'deploy' is in use");
    TOKENS.revoke("tests", first.id());
    assertThat(TOKENS.create("tests", NewToken.of("deploy", Role.VIEWER)).id())
        .isNotEqualTo(first.id());
  }

  @Test
  void whatMakesNoSenseIsRefusedAllAtOnce() {
    assertThatThrownBy(
            () -> new NewToken(" ", null, Set.of(), Scope.tenant(""), Duration.ofDays(9999)))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("name")
        .hasMessageContaining("role")
        .hasMessageContaining("lifetime")
        .hasMessageContaining("blank");
    assertThatThrownBy(() -> Permission.of("all")).hasMessageContaining("payload:read");
    assertThatThrownBy(() -> Role.of("root")).hasMessageContaining("viewer, operator, admin");
  }

  @Test
  void noRoleShowsPayloads() {
    for (Role role : Role.values()) {
      assertThat(role.permissions()).doesNotContain(Permission.PAYLOAD_READ);
    }
  }
}
