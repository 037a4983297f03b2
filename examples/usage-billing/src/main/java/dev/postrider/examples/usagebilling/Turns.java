package dev.postrider.examples.usagebilling;

import dev.postrider.enqueue.Outbox;
import dev.postrider.message.NewMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Begins chat turns while there is quota, and ends each of them once. Thread-safe. */
final class Turns {
  private static final String BEGIN =
      """
      insert into mini_chat.turn (tenant, request, user_name, prompt, model, policy_version,
        input_price, output_price, max_output, input_estimate)
      select q.tenant, ?, ?, p.prompt, 'chat-large', 7, 200, 600, 800, length(p.prompt) / 4 + 1
        from mini_chat.quota q, (values (?)) as p(prompt)
       where q.tenant = ? and q.used < q.credit_limit
      returning id
      """;

  // Compare and set: whoever finds it streaming has won, and everybody else finds nothing. Without
  // a count from the provider, the tokens that were streamed are settled, up to what was allowed.
  private static final String FINISH =
      """
      update mini_chat.turn t
         set state = ?, input_tokens = coalesce(?, t.input_estimate),
             output_tokens = coalesce(?, least(t.streamed, t.max_output))
       where t.id = ? and t.state = 'streaming'
      returning t.tenant, t.credits, t.tenant || '/' || t.id || '/' || t.request as dedupe_key,
        jsonb_strip_nulls(jsonb_build_object(
          'tenant_id', t.tenant, 'turn_id', t.id, 'request_id', t.request, 'user_id', t.user_name,
          'outcome', t.state, 'effective_model', t.model,
          'policy_version_applied', t.policy_version, 'input_tokens', t.input_tokens,
          'output_tokens', t.output_tokens, 'credits', t.credits)) as usage
      """;

  private static final String DEBIT =
      """
      with charged as (
        update mini_chat.quota set used = used + ? where tenant = ? returning tenant)
      insert into mini_chat.debit (turn, tenant, credits) select ?, tenant, ? from charged
      """;

  private final DataSource dataSource;
  private final Outbox outbox;

  Turns(DataSource dataSource, Outbox outbox) {
    this.dataSource = dataSource;
    this.outbox = outbox;
  }

  /** Begins a turn; empty if the tenant's quota is used up. */
  Optional<UUID> begin(UUID tenant, @Nullable String user, String prompt) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement begin = connection.prepareStatement(BEGIN)) {
      begin.setObject(1, UUID.randomUUID());
      begin.setString(2, user);
      begin.setString(3, prompt);
      begin.setObject(4, tenant);
      try (ResultSet row = begin.executeQuery()) {
        return row.next() ? Optional.of(row.getObject(1, UUID.class)) : Optional.empty();
      }
    }
  }

  /** Ends a turn, debits the quota and leaves the usage message: all or nothing, and once. */
  boolean finish(UUID turn, TurnEnd end) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      Optional<NewMessage> usage = settle(connection, turn, end);
      if (usage.isPresent()) {
        outbox.enqueue(connection, usage.get());
      }
      connection.commit(); // closing the connection before it rolls back
      return usage.isPresent();
    }
  }

  private static Optional<NewMessage> settle(Connection connection, UUID turn, TurnEnd end)
      throws SQLException {
    try (PreparedStatement finish = connection.prepareStatement(FINISH)) {
      finish.setString(1, end.state());
      finish.setObject(2, end.inputTokens());
      finish.setObject(3, end.outputTokens());
      finish.setObject(4, turn);
      try (ResultSet won = finish.executeQuery()) {
        if (!won.next()) {
          return Optional.empty();
        }
        UUID tenant = won.getObject("tenant", UUID.class);
        debit(connection, turn, tenant, won.getLong("credits"));
        return Optional.of(
            NewMessage.to("mini-chat", "usage_snapshot")
                .tenant(tenant.toString())
                .dedupeKey(won.getString("dedupe_key"))
                .aggregate("turn", turn.toString())
                .json(won.getString("usage"))
                .build());
      }
    }
  }

  private static void debit(Connection connection, UUID turn, UUID tenant, long credits)
      throws SQLException {
    try (PreparedStatement debit = connection.prepareStatement(DEBIT)) {
      debit.setLong(1, credits);
      debit.setObject(2, tenant);
      debit.setObject(3, turn);
      debit.setLong(4, credits);
      debit.executeUpdate();
    }
  }
}
