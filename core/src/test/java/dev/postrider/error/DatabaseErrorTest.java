package dev.postrider.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;

class DatabaseErrorTest {
  @Test
  void theSqlStateSaysIt() {
    assertThat(DatabaseError.of(new SQLException("x", "57014"))).isEqualTo(DatabaseError.TIMEOUT);
    assertThat(DatabaseError.of(new SQLException("x", "40P01"))).isEqualTo(DatabaseError.CONFLICT);
    assertThat(DatabaseError.of(new SQLException("x", "08006"))).isEqualTo(DatabaseError.TRANSIENT);
    assertThat(DatabaseError.of(new SQLTransientConnectionException("wrong password", "28P01")))
        .as("what a pool says of a login that is refused")
        .isEqualTo(DatabaseError.FATAL);
  }

  @Test
  void withoutOneTheClassSaysIt() {
    assertThat(DatabaseError.of(new SQLTransientConnectionException("pool is full")))
        .isEqualTo(DatabaseError.TRANSIENT);
    assertThat(DatabaseError.of(new SQLTransientConnectionException("pool is full", "")))
        .isEqualTo(DatabaseError.TRANSIENT);
    assertThat(DatabaseError.of(new SQLRecoverableException("closed")))
        .isEqualTo(DatabaseError.TRANSIENT);
    assertThat(DatabaseError.of(new SQLTimeoutException("late"))).isEqualTo(DatabaseError.TIMEOUT);
    assertThat(DatabaseError.of(new SQLNonTransientConnectionException("shut down")))
        .isEqualTo(DatabaseError.FATAL);
    assertThat(DatabaseError.of(new SQLException("unknown"))).isEqualTo(DatabaseError.FATAL);
  }
}
