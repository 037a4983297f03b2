package dev.postrider.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Five roles, none of which can log in or write to a table: a service's own login is made a member
 * of the one it needs ({@code grant postrider_producer to shop}).
 *
 * <ul>
 *   <li>producer: may enqueue, and read nothing
 *   <li>relay: may claim, settle and keep leases, remove what is past its retention, and read what
 *       steers it; payloads only by a claim; record what it serves, and check the token of a caller
 *       who reads its metrics
 *   <li>operator: may read everything and act through the operators' functions
 *   <li>reader: may read everything
 *   <li>server: may do what producers and operators may, and make and check tokens
 * </ul>
 *
 * <p>Writing happens only inside functions that run as the schema's owner, so nobody but the owner
 * can change a message or an attempt. The script may be run again at any time, and must be after an
 * upgrade; it takes back what a role has too much. Roles belong to the whole cluster: those that
 * exist are used as they are, so an administrator may make them beforehand. Thread-safe.
 */
public final class Roles {
  private static final String SCRIPT =
      """
      do $roles$
      declare
        v_path     pg_catalog.text := pg_catalog.current_setting('search_path');
        v_role     pg_catalog.text;
        v_function record;
        v_enqueue  pg_catalog.text[] := '{enqueue, enqueue_batch, try_enqueue_plain, try_enqueue_keyed,
          try_enqueue_once}';
        v_reading  pg_catalog.text[] := '{lane_of, id_time, id_floor, id_number, queued_routes,
          unrouted_topics}';
        v_operate  pg_catalog.text[] := '{ensure_partitions, retire_default, backlog, dispatching,
          dead_scan, requeue_dead, discard_dead, replay_start, replay_step, replay_count,
          replay_set_state, archive_begin, archive_cutoff, archive_partitions, archive_plan,
          archive_count, archive_page, archive_record, archive_remove, archive_trim, archive_drop,
          archive_drop_attempts, archive_require, purge, pause_on, pause_off, message_scan, event_counts, stream_purge,
          sequence_places, advance_sequences}';
        v_tokens   pg_catalog.text[] := '{token_create, token_revoke, token_find, token_list}';
      begin
        perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        lock table postrider.migration in share row exclusive mode;
        revoke all on schema postrider from public;
        revoke all on all tables in schema postrider from public;
        revoke all on all sequences in schema postrider from public;
        revoke all on all functions in schema postrider from public;

        foreach v_role in array '{ROLE_producer, ROLE_relay, ROLE_operator, ROLE_reader, ROLE_server}'::text[] loop
          begin
            if not exists (select from pg_roles where rolname = v_role) then
              execute format('create role %I nologin', v_role);
            end if;
          exception when duplicate_object or unique_violation then
            null; -- made at this moment from another database of the cluster
          end;
          execute format('revoke all on all tables in schema postrider from %I', v_role);
          execute format('revoke all on all sequences in schema postrider from %I', v_role);
          execute format('revoke all on all functions in schema postrider from %I', v_role);
          execute format('revoke all on schema postrider from %I', v_role);
          execute format('grant usage on schema postrider to %I', v_role);
        end loop;

        for v_function in
          select f.oid::regprocedure as signature, g.role
            from (values
              ('ROLE_producer', v_enqueue),
              ('ROLE_relay', v_reading || array['worker_id', 'claim', 'claim_from', 'settle', 'settle_held',
                'renew', 'renew_held', 'reap', 'reap_from', 'forget_leases', 'worker_stopped', 'arm_doorbell',
                'disarm_doorbell', 'workers_seen', 'ensure_partitions', 'backlog', 'dispatching',
                'stream_append', 'relay_record', 'relay_breakers', 'ring_owners', 'token_find', 'retention_hold',
                'retention_next', 'retention_step', 'retention_skip', 'retention_end', 'retention_leave',
                'check_archive_first']),
              ('ROLE_operator', v_reading || v_operate),
              ('ROLE_server', v_enqueue || v_reading || v_operate || v_tokens),
              ('ROLE_reader', v_reading || array['backlog', 'dispatching', 'message_scan',
                'event_counts', 'sequence_places'])) g(role, names)
            join pg_proc f
              on f.pronamespace = 'postrider'::regnamespace and f.proname::text = any (g.names)
        loop
          execute format('grant execute on function %s to %I', v_function.signature, v_function.role);
        end loop;

        grant select on postrider.migration, postrider.engine, postrider.route, postrider.pause,
          postrider.worker, postrider.lease, postrider.queue, postrider.dead_letter,
          postrider.delivered_content, postrider.message_state, postrider.attempt_history,
          postrider.partition, postrider.retention to ROLE_relay;
        grant select on all tables in schema postrider to ROLE_operator, ROLE_reader, ROLE_server;
        revoke select on postrider.token from ROLE_operator, ROLE_reader, ROLE_server;
        perform set_config('search_path', v_path, true);
      end $roles$;
      """;

  private final Schema schema;

  public Roles(Schema schema) {
    this.schema = schema;
  }

  /** The script, for people whose DBAs run it: as the schema's owner, who may create roles. */
  public String script() {
    return schema.sql(SCRIPT).replace("ROLE_", schema.name() + "_");
  }

  /** Runs the script; it takes effect at once or with the connection's transaction. */
  public void apply(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(script());
    }
  }
}
