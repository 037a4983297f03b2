create or replace function postrider.check_retention(p_task text, p_period interval) returns void
language plpgsql stable as $$
declare
  v_least interval;
begin
  select case p_task when 'audit' then e.least_audit_retention else e.least_retention end into v_least
    from postrider.engine e;
  if p_period is null or p_period < v_least then
    perform postrider.refuse_act(format('a retention of %s is too short for %s; at least %s is kept',
      coalesce(justify_hours(p_period)::text, 'nothing'), p_task,
      -- The server writes an hour as 01:00:00.
      case v_least when interval '1 hour' then '1 hour' else v_least::text end));
  end if;
end $$;

-- Removes old rows from the next p_pages pages of a table. A sweep by page, which needs no index and never walks over
-- what earlier steps removed; pages behind the end mean done. oldest: the time of the oldest row that is left on them.
create or replace function postrider.purge_pages(
  p_table text, p_old text, p_time text, p_period interval, p_pages int, inout p_page bigint,
  out removed bigint, out oldest timestamptz, out done boolean)
language plpgsql set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  execute format('delete from postrider.%I t where t.ctid >= $2 and t.ctid < $3 and (%s)', p_table, p_old)
    using p_period, format('(%s,0)', p_page)::tid, format('(%s,0)', p_page + p_pages)::tid;
  get diagnostics removed = row_count;
  if p_time is null then
    oldest := '-infinity';
  else
    execute format('select min(%s) from postrider.%I t where t.ctid >= $1 and t.ctid < $2', p_time, p_table)
      into oldest using format('(%s,0)', p_page)::tid, format('(%s,0)', p_page + p_pages)::tid;
  end if;
  p_page := p_page + p_pages;
  done := p_page >= pg_relation_size(format('postrider.%I', p_table)::regclass) / current_setting('block_size')::bigint;
end $$;

-- The tables that are swept for a task, what of them is old, and the time of a row; null where rows of old messages may
-- come in: a replay adds them.
create or replace function postrider.purge_tables(p_task text) returns table (place int, name text, old text, at text)
language sql immutable as $$
  select t.place, t.name, t.old, t.at from (values
    ('dedupe_keys', 1, 'dedupe', 't.message_id < postrider.id_floor(now() - $1)', 'postrider.id_time(t.message_id)'),
    ('delivered_content', 1, 'delivered_content', 't.message_id < postrider.id_floor(now() - $1)', null),
    ('inbox', 1, 'inbox', 't.processed_at < now() - $1', 't.processed_at'),
    ('inbox', 2, 'inbox_sequence', 't.passed_at < now() - $1', 't.passed_at'),
    -- A discarded message that is still in the log is dead because of this row.
    ('dead_letters', 1, 'dead_letter', 't.resolved_at < now() - $1 and (t.resolution = ''requeued'' or not exists (
        select from postrider.message m where m.id = t.message_id))', 't.resolved_at'),
    ('audit', 1, 'audit', 't.at < now() - $1', 't.at'),
    ('replay_jobs', 1, 'replay_job', '(t.state = ''done'' or t.state = ''stopped'' and t.catch_up is null) and t.updated_at < now() - $1',
        't.updated_at'),
    ('workers', 1, 'worker', 't.seen_at < now() - $1
        and not t.id = any (array(select l.worker from postrider.lease l))', 't.seen_at'))
    as t(task, place, name, old, at)
   where t.task = p_task
$$;

-- Removes keys that were not used for so long and have no message left in the log. A message that is queued or dead is
-- always in the log. Walks over the next p_rows keys in their order. Skips keys that a producer works on.
create or replace function postrider.retire_keys(
  p_period interval, p_rows int, inout p_position text, out removed bigint, out done boolean)
language plpgsql set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_seen   record;
  v_locked record;
  v_last   bigint;
begin
  with seen as materialized (
    select k.id, k.namespace, k.key from postrider.ordering_key k
     where (k.namespace, k.key) > (coalesce(p_position::jsonb ->> 0, ''), coalesce(p_position::jsonb ->> 1, ''))
       and k.generation = 0
     order by k.namespace, k.key limit p_rows),
  idle as materialized (
    select s.* from seen s
     cross join lateral (
       select k.used_at from postrider.ordering_key k where k.namespace = s.namespace and k.key = s.key
        order by k.generation desc limit 1) k
      left join lateral (select true as here from postrider.queue q where q.key_id = s.id limit 1) q on true
      left join lateral (select true as here from postrider.message m where m.key_id = s.id limit 1) m on true
     where k.used_at < now() - p_period and q.here is null and m.here is null)
  select (select count(*) from seen) as n,
         (select jsonb_build_array(s.namespace, s.key)::text from seen s
           order by s.namespace desc, s.key desc limit 1) as position,
         array(select i.namespace from idle i order by i.id) as namespaces,
         array(select i.key from idle i order by i.id) as keys
    into v_seen;
  done := v_seen.n < p_rows;
  p_position := case when not done then v_seen.position end;
  removed := 0;
  if cardinality(v_seen.keys) = 0 then
    return;
  end if;
  select array_agg(l.namespace) as namespaces, array_agg(l.key) as keys into v_locked from (
    select k.namespace, k.key from unnest(v_seen.namespaces, v_seen.keys) i(namespace, key)
      join postrider.ordering_key k on k.namespace = i.namespace and k.key = i.key
     where k.used_at < now() - p_period for update of k skip locked) l;
  -- Looked at again now that nobody can use these keys. A key with a row that is not locked stays.
  with free as materialized (
    select l.namespace, l.key from (
        select i.namespace, i.key, count(*) as n from unnest(v_locked.namespaces, v_locked.keys) i(namespace, key)
         group by i.namespace, i.key) l
     cross join lateral (
       select count(*) as n, min(k.id) as id from postrider.ordering_key k
        where k.namespace = l.namespace and k.key = l.key) k
      left join lateral (select true as here from postrider.queue q where q.key_id = k.id limit 1) q on true
      left join lateral (select true as here from postrider.message m where m.key_id = k.id limit 1) m on true
     where l.n = k.n and q.here is null and m.here is null),
  gone as (
    delete from postrider.ordering_key k using free f where k.namespace = f.namespace and k.key = f.key
    returning k.generation, k.last_sequence)
  select count(*) filter (where g.generation = 0), max(g.last_sequence) into removed, v_last from gone g;
  if removed > 0 then
    insert into postrider.key_floor as f (last_sequence) values (v_last)
    on conflict (one) do update set last_sequence = excluded.last_sequence
     where f.last_sequence < excluded.last_sequence;
    -- Under the lock of the row, so that no other one lowers it. Seen by producers before the keys are gone.
    if postrider.key_floor() < v_last then
      perform setval('postrider.key_floor_now', v_last);
    end if;
  end if;
end $$;

-- Removes the settled ones of these messages, with their dead letters.
create or replace function postrider.remove_settled(p_ids uuid[], p_before uuid) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '5s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_ids uuid[];
  v_n   bigint;
begin
  lock table postrider.retention_lock in share row exclusive mode;
  v_ids := array(select s.id from postrider.settled(p_ids) s(id));
  perform postrider.archive_keep_sequences(v_ids);
  with gone as (
    delete from postrider.message m
     where m.id = any (v_ids) and m.id < p_before
       and m.id >= (select u from unnest(v_ids) u order by u limit 1)
       and m.id <= (select u from unnest(v_ids) u order by u desc limit 1)
    returning m.id),
  buried as (
    delete from postrider.dead_letter d using gone g where d.message_id = g.id)
  select count(*) into v_n from gone;
  return v_n;
end $$;

-- One step through a partition of messages. A partition that may go as a whole is only read, for the sequences that its
-- dedupe keys must keep, and then dropped. If its lock is not to be had, it is emptied row by row, and a later run drops
-- it. One that is gone is done. p_at: partition, whole, after, seen, and the tries for a lock in this run: producers wait
-- behind each of them, so the partitions of a run share them.
-- Without settings for the planner: archive_clear() reads the queue as a whole.
create or replace function postrider.purge_partition(p_before uuid, p_rows int, inout p_at jsonb, out removed bigint, out done boolean)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  c_tries constant int := 5;
  v_rows constant jsonb := '{"whole": false, "seen": 0}';
  v_name  text := p_at ->> 'partition';
  v_tries int := coalesce((p_at ->> 'tries')::int, 0);
  v_ids   uuid[];
begin
  removed := 0;
  done := not postrider.has_partition('message', v_name);
  if done then
    return;
  end if;
  if not p_at ? 'whole' then
    p_at := p_at || jsonb_build_object('seen', 0, 'whole', coalesce((
      select not p.fallback and p.upper::uuid <= least(p_before, postrider.archive_cutoff(interval '2 days'))
             and postrider.archive_clear(
                   coalesce(p.lower::uuid, '00000000-0000-0000-0000-000000000000'), p.upper::uuid)
        from postrider.archive_partitions('message') p where p.name = v_name), false));
  end if;
  v_ids := postrider.partition_ids(v_name, (p_at ->> 'after')::uuid, p_before, p_rows);
  if cardinality(v_ids) > 0 then
    p_at := p_at || jsonb_build_object('after', v_ids[cardinality(v_ids)],
      'seen', (p_at ->> 'seen')::bigint + cardinality(v_ids));
    if (p_at ->> 'whole')::boolean then
      perform postrider.archive_keep_sequences(v_ids);
    else
      removed := postrider.remove_settled(v_ids, p_before);
    end if;
  end if;
  if cardinality(v_ids) = p_rows then
    return;
  elsif not (p_at ->> 'whole')::boolean then
    done := true;
    return;
  end if;
  begin
    if postrider.archive_drop('retention', v_name, p_before, (p_at ->> 'seen')::bigint) then
      removed := (p_at ->> 'seen')::bigint;
      done := true;
    else
      -- Something was put back into the queue meanwhile.
      p_at := p_at - 'after' || v_rows;
    end if;
  exception when lock_not_available then
    p_at := p_at || jsonb_build_object('tries', v_tries + 1);
    if v_tries + 1 >= c_tries then
      p_at := p_at - 'after' || v_rows;
    end if;
  end;
end $$;

-- One step through a partition of attempts, or the dead letters: drops it, or removes those whose message is gone.
create or replace function postrider.purge_attempts(p_before uuid, p_rows int, inout p_at jsonb, out removed bigint, out done boolean)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_trim record;
begin
  removed := 0;
  done := false;
  if p_at ->> 'partition' <> 'dead_letter' and not p_at ? 'after' then
    begin
      done := postrider.archive_drop_attempts('retention', p_at ->> 'partition', p_before);
    exception when lock_not_available then
      null; -- In use: row by row this time.
    end;
  end if;
  if not done then
    select * into v_trim
      from postrider.archive_trim(p_at ->> 'partition', p_before, p_rows, (p_at ->> 'after')::uuid);
    removed := v_trim.removed;
    done := v_trim.done;
    p_at := p_at || jsonb_build_object('after', v_trim.p_after);
  end if;
end $$;

-- One step through the old messages, then through the attempts and dead letters they leave behind.
create or replace function postrider.purge_messages(
  p_period interval, p_rows int, inout p_position text, out removed bigint, out done boolean)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_before uuid := postrider.id_floor(now() - p_period);
  v_at     jsonb := coalesce(p_position::jsonb, '{"of": "message", "last": ""}');
  v_name   text;
  v_step   record;
begin
  removed := 0;
  done := false;
  if not v_at ? 'partition' then
    -- Partitions in the order of their names. The dead letters come last, as if they were one of the attempts.
    select p.name into v_name
      from (select a.name from postrider.archive_partitions(v_at ->> 'of') a
             where a.fallback or a.lower is null or case v_at ->> 'of'
               when 'message' then a.lower::uuid < v_before
               else a.lower::timestamptz < postrider.id_time(v_before) end
            union all select 'dead_letter' where v_at ->> 'of' = 'attempt') p
     where p.name collate "C" > v_at ->> 'last' order by p.name collate "C" limit 1;
    if not found then
      done := v_at ->> 'of' = 'attempt';
      p_position := case when not done then '{"of": "attempt", "last": ""}' end;
      return;
    end if;
    -- A step of its own, so that retention_skip() knows where a step failed.
    p_position := (v_at || jsonb_build_object('partition', v_name))::text;
    return;
  end if;
  if v_at ->> 'of' = 'message' then
    select * into v_step from postrider.purge_partition(v_before, p_rows, v_at);
  else
    select * into v_step from postrider.purge_attempts(v_before, p_rows, v_at);
  end if;
  removed := v_step.removed;
  p_position := case when v_step.done
    then jsonb_strip_nulls(jsonb_build_object('of', v_at -> 'of', 'last', v_at -> 'partition', 'tries', v_step.p_at -> 'tries'))
    else v_step.p_at end::text;
end $$;

-- One step of a task: a short transaction over about p_rows rows. p_position: null at first, then what came back.
create or replace function postrider.purge_step(
  p_task text, p_period interval, p_rows int, inout p_position text, out removed bigint, out done boolean)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_at     jsonb;
  v_table  record;
  v_step   record;
  v_oldest timestamptz;
begin
  perform postrider.check_isolation();
  perform postrider.check_retention(p_task, p_period);
  -- A crash may undo a step, which the next run repeats. So nobody waits for the disk.
  perform set_config('synchronous_commit', 'off', true);
  if p_task = 'messages' then
    perform postrider.check_archive_first();
    select * into v_step from postrider.purge_messages(p_period, p_rows, p_position);
  elsif p_task = 'ordering_keys' then
    select * into v_step from postrider.retire_keys(p_period, p_rows, p_position);
  elsif p_task = 'stream' then
    select s.p_from::text as p_position, s.removed::bigint as removed, s.done into v_step
      from postrider.stream_purge(p_period, p_rows, coalesce(p_position::bigint, 0)) s;
  else
    -- Table, page, and the time of the oldest row that is left. What comes in while the sweep goes on is never more
    -- than a day older than its start: enqueue takes ids of up to a day ago.
    v_at := coalesce(p_position::jsonb, jsonb_build_array(1, 0, now() - interval '1 day'));
    select * into v_table from postrider.purge_tables(p_task) t where t.place = (v_at ->> 0)::int;
    if not found then
      perform postrider.refuse_act(format('%L is no task of the retention', p_task));
    end if;
    select p.removed, p.done, p.p_page, p.oldest, null::text as p_position into v_step
      from postrider.purge_pages(v_table.name, v_table.old, v_table.at, p_period, greatest(1, p_rows / 50),
             (v_at ->> 1)::bigint) p;
    v_oldest := least((v_at ->> 2)::timestamptz, v_step.oldest);
    v_step.p_position := jsonb_build_array(v_table.place, v_step.p_page, v_oldest)::text;
    if v_step.done and exists (select from postrider.purge_tables(p_task) t where t.place > v_table.place) then
      v_step.done := false;
      v_step.p_position := jsonb_build_array(v_table.place + 1, 0, v_oldest)::text;
    end if;
    if v_step.done then
      update postrider.retention t set oldest = v_oldest where t.task = p_task;
    end if;
  end if;
  removed := v_step.removed;
  done := v_step.done;
  p_position := case when not done then v_step.p_position end;
end $$;

-- For operators: one step, recorded with who did it. p_audit: null at first, then what came back.
create or replace function postrider.purge(
  p_actor text, p_task text, p_period interval, p_rows int, inout p_position text, inout p_audit bigint,
  out removed bigint, out done boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  select s.p_position, s.removed, s.done into p_position, removed, done
    from postrider.purge_step(p_task, p_period, p_rows, p_position) s;
  p_audit := postrider.record_act(p_audit, p_actor, 'purge',
    jsonb_build_object('task', p_task, 'retention', p_period), removed);
end $$;

-- Whether this relay carries out retention now: takes the turn if it is free, and keeps it for two minutes more.
create or replace function postrider.retention_hold(p_holder text, p_every interval) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform postrider.check_isolation();
  insert into postrider.retention_run as r (holder, until, every) values (p_holder, now() + interval '2 minutes', p_every)
  on conflict (one) do update set holder = excluded.holder, until = excluded.until, every = excluded.every
   where r.holder = excluded.holder or r.until < now();
  return found;
end $$;

-- The task of those given that this relay should do next, null if none is due or another relay is at it. A task is due
-- again after a hundredth of its period, at most a day and at least p_every; one that failed or was left undone, after
-- p_every. A task that no relay has named for two looks and an hour is forgotten; if one names it later, it starts
-- afresh. p_archives: the caller archives messages, so from now on nobody removes them without.
create or replace function postrider.retention_next(
  p_holder text, p_every interval, p_tasks text[], p_periods interval[], p_archives boolean)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_task   text;
  v_period interval;
  v_held   boolean;
begin
  if p_archives then
    perform postrider.archive_require('retention', true);
  end if;
  v_held := postrider.retention_hold(p_holder, p_every);
  -- Also while another relay has the turn, which may take hours. After retention_hold(), whose lock comes first in
  -- every step. Not at every call of a relay that is at work.
  update postrider.retention t set wanted_at = now()
   where t.task = any (p_tasks) and t.wanted_at < now() - least(p_every, interval '1 minute');
  if not v_held then
    return null;
  end if;
  delete from postrider.retention t
   where not t.task = any (p_tasks) and t.wanted_at < now() - interval '1 hour' - 2 * p_every;
  select g.task, g.period into v_task, v_period from unnest(p_tasks, p_periods) with ordinality g(task, period, place)
    left join postrider.retention t on t.task = g.task
   where t.task is null
      or now() >= greatest(t.started_at, t.failed_at) + p_every
         and (t.failed_at is not null or t.position is not null
              or now() >= coalesce(t.finished_at, '-infinity') + least(interval '1 day', greatest(p_every, g.period / 100)))
   order by t.started_at nulls first, g.place limit 1;
  if v_task is null then
    -- Others may look.
    update postrider.retention_run r set until = now() - interval '1 ms' where r.holder = p_holder;
    return null;
  end if;
  insert into postrider.retention as t (task, period, started_at) values (v_task, v_period, now())
  on conflict (task) do update set period = v_period, started_at = now(), wanted_at = now(), last_removed = 0;
  return v_task;
end $$;

-- Counts what a task removed. One audit row a day and task, so that the audit grows no faster than that.
create or replace function postrider.retention_count(p_task text, p_removed bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_task postrider.retention;
begin
  update postrider.retention t set removed = t.removed + p_removed, last_removed = t.last_removed + p_removed
   where t.task = p_task and p_removed > 0 returning * into v_task;
  if found then
    update postrider.retention t
       set audit_day = now()::date, audit = postrider.record_act(
             case when v_task.audit_day = now()::date then v_task.audit end, 'retention', 'retention',
             jsonb_build_object('task', p_task, 'period', v_task.period), p_removed)
     where t.task = p_task;
  end if;
end $$;

-- One step of a task that retention_next() gave; the position is kept here. Answers null if another relay took over.
create or replace function postrider.retention_step(
  p_holder text, p_every interval, p_task text, p_period interval, p_rows int, out removed bigint, out done boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_task record;
  v_step record;
begin
  if not postrider.retention_hold(p_holder, p_every) then
    return;
  end if;
  select t.position, t.position is null and t.oldest >= now() - p_period as young into v_task
    from postrider.retention t where t.task = p_task;
  if v_task.young then
    -- What the last run left is not due, and what came later is younger. An operator who purges has the table read.
    perform postrider.check_retention(p_task, p_period);
    select null::text as p_position, 0::bigint as removed, true as done into v_step;
  else
    select s.* into v_step from postrider.purge_step(p_task, p_period, p_rows, v_task.position) s;
  end if;
  removed := v_step.removed;
  done := v_step.done;
  perform postrider.retention_count(p_task, removed);
  update postrider.retention t
     set position = v_step.p_position,
         finished_at = case when v_step.done and (t.failed_at is null or t.failed_at < t.started_at) then now()
           else t.finished_at end,
         failed_at = case when t.failed_at >= t.started_at then t.failed_at end,
         error = case when t.failed_at >= t.started_at then t.error end
   where t.task = p_task
     and (t.position is distinct from v_step.p_position or v_step.done or t.failed_at is not null);
end $$;

-- After a step that failed: goes on row by row if the partition was to be dropped as a whole, otherwise with the next
-- partition. So one that makes trouble does not keep the others. The run has failed then, though it goes on. Answers
-- false if there is nothing to go on with.
create or replace function postrider.retention_skip(p_holder text, p_task text, p_error text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_at jsonb;
begin
  perform postrider.check_isolation();
  select t.position::jsonb into v_at from postrider.retention t
   where t.task = p_task and p_task = 'messages'
     and exists (select from postrider.retention_run r where r.holder = p_holder);
  if v_at is null or not v_at ? 'partition' then
    return false;
  end if;
  v_at := case
    when v_at ->> 'of' = 'message' and not (v_at @> '{"whole": false}')
      then v_at - 'after' || '{"whole": false, "seen": 0}'
    when v_at ->> 'of' = 'attempt' and not v_at ? 'after' then v_at || '{"after": null}'
    else jsonb_strip_nulls(jsonb_build_object('of', v_at -> 'of', 'last', v_at -> 'partition', 'tries', v_at -> 'tries')) end;
  update postrider.retention t set position = v_at::text, failed_at = now(), error = left(p_error, 1000)
   where t.task = p_task;
  return true;
end $$;

-- What became of a task that failed, or of an archive run, which has removed p_removed messages: p_done if it came to
-- its end. What was removed counts in any case. After an error the next run starts afresh; that of messages goes on
-- where it was.
create or replace function postrider.retention_end(p_holder text, p_task text, p_removed bigint, p_error text, p_done boolean)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform postrider.check_isolation();
  perform postrider.retention_count(p_task, p_removed);
  if p_error is null and not p_done or not exists (
       select from postrider.retention_run r where r.holder = p_holder) then
    return;
  end if;
  update postrider.retention t
     set position = case when p_error is not null and p_task = 'messages' then t.position end,
         error = left(p_error, 1000), failed_at = case when p_error is not null then now() end,
         finished_at = case when p_done then now() else t.finished_at end
   where t.task = p_task;
end $$;

-- Lets another relay go on at once.
create or replace function postrider.retention_leave(p_holder text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update postrider.retention_run r set until = now() - interval '1 ms' where r.holder = p_holder
$$;
