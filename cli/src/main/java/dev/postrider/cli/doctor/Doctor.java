package dev.postrider.cli.doctor;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Runs every check. Thread-safe. */
public final class Doctor {
  private static final Map<String, Check> SERVER = new LinkedHashMap<>();
  private static final Map<String, Check> OUTBOX = new LinkedHashMap<>();

  static {
    SERVER.put("server", ServerChecks::version);
    SERVER.put("durability", ServerChecks::durability);
    SERVER.put("clock", ServerChecks::clock);
    SERVER.put("listen", ListenCheck::look);
    SERVER.put("transactions", ServerChecks::oldTransactions);
    SERVER.put("schema", SchemaChecks::migrations);
    OUTBOX.put("objects", SchemaChecks::objects);
    OUTBOX.put("roles", SchemaChecks::roles);
    OUTBOX.put("sequences", StorageChecks::sequences);
    OUTBOX.put("partitions", StorageChecks::partitions);
    OUTBOX.put("default", StorageChecks::defaultPartitions);
    OUTBOX.put("vacuum", StorageChecks::vacuum);
    OUTBOX.put("retention", RetentionChecks::tasks);
    OUTBOX.put("old rows", RetentionChecks::tables);
    OUTBOX.put("relays", WorkChecks::relays);
    OUTBOX.put("routes", WorkChecks::routes);
    OUTBOX.put("breakers", WorkChecks::breakers);
    OUTBOX.put("leases", WorkChecks::leases);
    OUTBOX.put("catch-up", CatchUpCheck::look);
    OUTBOX.put("dead", WorkChecks::dead);
    OUTBOX.put("paused", WorkChecks::paused);
  }

  private static final List<String> STORAGE =
      List.of("sequences", "partitions", "vacuum", "retention", "old rows");

  private Doctor() {}

  /** What is wrong with the database itself, for people who see from elsewhere what relays do. */
  public static List<Finding> troubles(CheckedDatabase checked) throws SQLException {
    checked.database().one("select 1", row -> row.getInt(1));
    List<Finding> findings = new ArrayList<>();
    findings.add(look("transactions", ServerChecks::oldTransactions, checked));
    for (String name : STORAGE) {
      findings.add(look(name, Objects.requireNonNull(OUTBOX.get(name)), checked));
    }
    return findings.stream().filter(found -> found.level() == Finding.Level.TROUBLE).toList();
  }

  /** Throws only if the database cannot be used at all; a check that fails is a finding. */
  public static List<Finding> examine(CheckedDatabase checked) throws SQLException {
    checked.database().one("select 1", row -> row.getInt(1));
    List<Finding> findings = new ArrayList<>();
    SERVER.forEach((name, check) -> findings.add(look(name, check, checked)));
    if (SchemaChecks.exists(checked)) {
      OUTBOX.forEach((name, check) -> findings.add(look(name, check, checked)));
    }
    return findings;
  }

  private static Finding look(String name, Check check, CheckedDatabase checked) {
    try {
      return check.look(checked);
    } catch (SQLException | RuntimeException e) {
      return Finding.trouble(name, "could not be checked: " + e.getMessage(), "");
    }
  }
}
