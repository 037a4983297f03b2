package dev.postrider.examples.usagebilling;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Writes a line per usage into the billing ledger, to be invoiced later. Thread-safe. */
public final class LedgerPolicy implements QuotaPolicy {
  private static final String POST =
      """
      insert into billing.ledger (dedupe_key, tenant, credits, line)
      select ?, (u.line ->> 'tenant_id')::uuid, (u.line ->> 'credits')::bigint, u.line
        from (select ?::jsonb as line) u
      on conflict (dedupe_key) do nothing
      """;

  @Override
  public String name() {
    return "ledger";
  }

  @Override
  public void publishUsage(Connection billing, String dedupeKey, String usage) throws SQLException {
    try (PreparedStatement post = billing.prepareStatement(POST)) {
      post.setString(1, dedupeKey);
      post.setString(2, usage);
      post.executeUpdate();
    }
  }
}
