-- What each role may do. Nobody may write to a table: writing happens inside functions that run as the schema's owner.
-- Applies to the roles that may use the schema (`migrate --roles` makes them) and takes back what a role has too much.
-- Run after every change of the functions, so that a running fleet keeps its rights through an upgrade.
do $grants$
declare
  v_path    pg_catalog.text := pg_catalog.current_setting('search_path');
  v_grant   record;
  v_object  pg_catalog.text;
  v_enqueue pg_catalog.text[] := '{enqueue, enqueue_batch, try_enqueue_plain, try_enqueue_keyed, try_enqueue_once}';
  v_reading pg_catalog.text[] := '{lane_of, id_time, id_floor, id_number, queued_routes, unrouted_topics, queue_of,
    subscription_key}';
  v_relay   pg_catalog.text[] := '{worker_id, fan_out, subscription_add, claim, claim_from, settle, settle_held, renew, renew_held, reap, reap_from,
    forget_leases, worker_stopped, arm_doorbell, disarm_doorbell, workers_seen, ensure_partitions, backlog, dispatching,
    stream_append, relay_record, relay_breakers, ring_owners, token_find, token_marks, retention_hold, retention_next,
    retention_step, retention_skip, retention_end, retention_leave, check_archive_first}';
  v_operate pg_catalog.text[] := '{ensure_partitions, retire_default, backlog, dispatching, dead_scan, requeue_dead,
    discard_dead, replay_start, replay_step, replay_count, replay_set_state, archive_begin, archive_cutoff,
    archive_partitions, archive_plan, archive_count, archive_page, archive_record, archive_remove, archive_trim,
    archive_drop, archive_drop_attempts, archive_require, purge, pause_on, pause_off, message_scan, event_counts,
    stream_purge, sequence_places, advance_sequences, subscription_add, subscription_add_from, subscription_remove,
    subscription_discard, subscription_pending,
    why}';
  v_tokens  pg_catalog.text[] := '{token_create, token_revoke, token_find, token_marks, token_list}';
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  lock table postrider.migration in share row exclusive mode; -- two at once would change the same rows
  revoke all on schema postrider from public;
  revoke all on all tables in schema postrider from public;
  revoke all on all sequences in schema postrider from public;
  revoke all on all functions in schema postrider from public;

  for v_grant in
    select r.rolname as role, g.functions, g.tables
      from (values
        ('ROLE_producer', v_enqueue, '{}'),
        ('ROLE_relay', v_reading || v_relay, '{migration, engine, route, pause, worker, lease, queue, dead_letter,
           delivered_content, message_state, attempt_history, delivery_state, subscription, partition, retention}'),
        ('ROLE_operator', v_reading || v_operate, '{*}'),
        ('ROLE_reader', v_reading || '{backlog, dispatching, message_scan, event_counts, sequence_places,
           subscription_pending, why}', '{*}'),
        ('ROLE_server', v_enqueue || v_reading || v_operate || v_tokens || '{chart_put}', '{*}')) g(role, functions, tables)
      join pg_roles r on r.rolname = g.role and has_schema_privilege(r.oid, 'postrider', 'usage')
  loop
    execute format('revoke all on all tables in schema postrider from %I', v_grant.role);
    execute format('revoke all on all sequences in schema postrider from %I', v_grant.role);
    execute format('revoke all on all functions in schema postrider from %I', v_grant.role);
    for v_object in
      select f.oid::regprocedure from pg_proc f
       where f.pronamespace = 'postrider'::regnamespace and f.proname::text = any (v_grant.functions)
    loop
      execute format('grant execute on function %s to %I', v_object, v_grant.role);
    end loop;
    if v_grant.tables = '{*}' then
      execute format('grant select on all tables in schema postrider to %I', v_grant.role);
      execute format('revoke select on postrider.token from %I', v_grant.role);
    else
      foreach v_object in array v_grant.tables::text[] loop
        execute format('grant select on postrider.%I to %I', v_object, v_grant.role);
      end loop;
    end if;
  end loop;
  perform set_config('search_path', v_path, true);
end $grants$;
