package dev.postrider.examples.usagebilling;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Takes usage off a prepaid balance, beside the line in the ledger. Thread-safe. */
public final class PrepaidPolicy implements QuotaPolicy {
  // The balance moves only with a new line: the line is what makes it happen once.
  private static final String TAKE =
      """
      with posted as (
        insert into billing.ledger (dedupe_key, tenant, credits, line)
        select ?, (u.line ->> 'tenant_id')::uuid, (u.line ->> 'credits')::bigint, u.line
          from (select ?::jsonb as line) u
        on conflict (dedupe_key) do nothing
        returning tenant, credits)
      insert into billing.account as a (tenant, balance) select tenant, -credits from posted
      on conflict (tenant) do update set balance = a.balance + excluded.balance
      """;

  @Override
  public String name() {
    return "prepaid";
  }

  @Override
  public void publishUsage(Connection billing, String dedupeKey, String usage) throws SQLException {
    try (PreparedStatement take = billing.prepareStatement(TAKE)) {
      take.setString(1, dedupeKey);
      take.setString(2, usage);
      take.executeUpdate();
    }
  }
}
