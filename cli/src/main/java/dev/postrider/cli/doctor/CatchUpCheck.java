package dev.postrider.cli.doctor;

import java.sql.SQLException;
import java.util.List;

/** Whether new subscriptions get their earlier messages: newer ones wait for that. */
final class CatchUpCheck {
  private static final String NAME = "catch-up";

  /** A step of a replay takes seconds, and a slow rate waits between two steps. */
  private static final String STALLED =
      """
      select r.namespace || '/' || r.topic || '#' || r.subscription
             || case when r.active then ' (replay ' || j.id || ')' else ' (removed)' end
        from postrider.route r
        left join postrider.replay_job j on j.catch_up = r.id and j.state <> 'done'
       where r.catching_up
         and (not r.active or j.state = 'stopped' or j.updated_at < now() - interval '5 minutes')
       order by j.id limit 10
      """;

  private CatchUpCheck() {}

  static Finding look(CheckedDatabase checked) throws SQLException {
    List<String> stalled = checked.database().list(STALLED, row -> row.getString(1));
    return stalled.isEmpty()
        ? Finding.ok(NAME, "no subscription waits for earlier messages in vain")
        : Finding.trouble(
            NAME,
            "newer messages wait until these have their earlier ones, but nothing brings them: "
                + String.join(", ", stalled),
            "Go on with: ./postrider replay resume JOB, or, if it was removed, discard what waits:"
                + " ./postrider subscriptions remove TOPIC NAME --discard --reason TEXT");
  }
}
