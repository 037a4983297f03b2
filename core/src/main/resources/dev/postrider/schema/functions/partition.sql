-- A bound of a partition, as its parent's partition column has it.
create or replace function postrider.partition_bound(p_parent text, p_at timestamptz) returns text
language sql stable strict
return case p_parent when 'message' then postrider.id_floor(p_at)::text else p_at::text end;

-- Makes a table that can be attached to the parent. LIKE does not copy the replica identity.
create or replace function postrider.partition_like(p_name text, p_parent text, p_options text default '') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('create table postrider.%I (like postrider.%I including all) %s', p_name, p_parent, p_options);
  execute format('revoke all on postrider.%I from public', p_name); -- the owner's default privileges may give it
  if (select c.relreplident from pg_class c where c.oid = format('postrider.%I', p_parent)::regclass) = 'f' then
    execute format('alter table postrider.%I replica identity full', p_name);
  end if;
end $$;

-- Makes the partitions of these days and puts the rows there that the default has of them; all or none.
-- CREATE TABLE … PARTITION OF would lock the parent against everyone. A table made on its own and then
-- attached does not: enqueues go on, and only the default is locked while ATTACH looks for rows of the
-- new range in it.
-- Not so on a live day, whose rows are arriving in the default right now. Whoever had chosen the default
-- just before the day was attached would have its row refused there, or look for moved rows where they
-- are no longer. Hence the lock on the parent, in which everyone waits before choosing.
create or replace function postrider.attach_days(p_parent text, p_days date[], p_live boolean)
returns table (name text, created boolean, note text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_default text := p_parent || '_default';
  v_column  text := case p_parent when 'message' then 'id' else 'finished_at' end;
  v_day     date;
  v_lower   text;
  v_upper   text;
  v_moved   bigint := 0;
begin
  foreach v_day in array p_days loop
    -- Rows here never change, so the first vacuum may as well be the last.
    perform postrider.partition_like(p_parent || to_char(v_day, '_YYYYMMDD'), p_parent,
      'with (autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0)');
  end loop;
  execute format('lock table only postrider.%I in %s mode', p_parent,
    case when p_live then 'access exclusive' else 'share update exclusive' end);
  execute format('lock table postrider.%I in access exclusive mode', v_default);
  foreach v_day in array p_days loop
    name := p_parent || to_char(v_day, '_YYYYMMDD');
    v_lower := postrider.partition_bound(p_parent, v_day::timestamptz);
    v_upper := postrider.partition_bound(p_parent, (v_day + 1)::timestamptz);
    if p_live then
      execute format('with moved as (
                        delete from postrider.%1$I d where d.%2$I >= %3$L and d.%2$I < %4$L returning *)
                      insert into postrider.%5$I select * from moved',
        v_default, v_column, v_lower, v_upper, name);
      get diagnostics v_moved = row_count;
    end if;
    execute format('alter table postrider.%I attach partition postrider.%I for values from (%L) to (%L)',
      p_parent, name, v_lower, v_upper);
    created := true;
    note := v_moved || ' rows moved from ' || v_default;
    return next;
  end loop;
end $$;

-- The days from today to so many ahead that have no partition: those whose rows may arrive by now, or those to come.
create or replace function postrider.missing_days(p_parent text, p_days_ahead int, p_live boolean) returns date[]
language sql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
  select array_agg(d.day order by d.day)
    from (select current_date + n as day from generate_series(0, p_days_ahead) n) d
   where (d.day <= (now() + interval '10 minutes')::date) = p_live
     and not exists (select from postrider.partition p
                      where p.parent = p_parent and p.from_at < d.day + 1 and p.to_at > d.day)
$$;

-- Makes the default partition a partition of its own, named for its last day, beside a new and empty default. No row
-- is copied, but everyone waits while the server reads the table once, since nothing else proves to it which days the
-- rows are of. (A CHECK constraint would, but one that outlived its maker would some day refuse an enqueue.)
-- p_most_moved: how many rows may have to be moved, which lie before partitions that exist. Returns its name.
create or replace function postrider.replace_default(p_parent text, p_most_moved bigint) returns text
language plpgsql set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' as $$
declare
  v_default text := p_parent || '_default';
  v_column  text := case p_parent when 'message' then 'id' else 'finished_at' end;
  v_lower   timestamptz;
  v_last    timestamptz;
  v_name    text;
  v_moved   bigint;
begin
  execute format('lock table only postrider.%I in access exclusive mode', p_parent);
  execute format('lock table postrider.%I in access exclusive mode', v_default);
  execute format('select %s from postrider.%I order by %I desc limit 1',
    case p_parent when 'message' then 'postrider.id_time(id)' else 'finished_at' end, v_default, v_column)
    into v_last;
  if v_last is null then
    raise exception using errcode = 'object_not_in_prerequisite_state',
      message = format('%s is empty; there is nothing to retire', v_default);
  end if;
  v_name := p_parent || to_char(v_last, '_YYYYMMDD');
  -- Rows from before the newest of the partitions in the past stay in the default.
  select coalesce(max(p.to_at), '-infinity') into v_lower
    from postrider.partition p where p.parent = p_parent and p.from_at <= v_last;
  if v_lower > v_last then
    raise exception using errcode = 'object_not_in_prerequisite_state',
      message = format('%s holds only rows of days around which partitions exist', v_default);
  end if;
  if v_lower > '-infinity' then
    execute format('select count(*) from (select from postrider.%I d where d.%I < %L limit %s) few',
      v_default, v_column, postrider.partition_bound(p_parent, v_lower), p_most_moved + 1) into v_moved;
    if v_moved > p_most_moved then
      raise exception using errcode = 'program_limit_exceeded',
        message = format('%s has more than %s rows from before partitions that exist', v_default, p_most_moved);
    end if;
  end if;
  execute format('alter table postrider.%I detach partition postrider.%I', p_parent, v_default);
  execute format('alter table postrider.%I rename to %I', v_default, v_name);
  perform postrider.partition_like(v_default, p_parent);
  if v_moved > 0 then
    execute format('with moved as (delete from postrider.%I d where d.%I < %L returning *)
                      insert into postrider.%I select * from moved',
      v_name, v_column, postrider.partition_bound(p_parent, v_lower), v_default);
  end if;
  execute format('alter table postrider.%I attach partition postrider.%I for values from (%s) to (%L)',
    p_parent, v_name,
    case when v_lower = '-infinity' then 'minvalue'
         else quote_literal(postrider.partition_bound(p_parent, v_lower)) end,
    postrider.partition_bound(p_parent, (v_last::date + 1)::timestamptz));
  execute format('alter table postrider.%I attach partition postrider.%I default', p_parent, v_default);
  return v_name;
end $$;

-- Replaces a default partition that has grown large, if the lock will be short. How long it takes to read the table is
-- measured first, without a lock; the first reading also fills the cache. Says what was retired, or why nothing was;
-- neither if there is nothing to do.
create or replace function postrider.relieve_default(
  p_parent text, p_longest interval default '1 second', out retired text, out note text)
language plpgsql set search_path = pg_catalog, pg_temp
-- The whole table, one row after the other, as ATTACH reads it.
set max_parallel_workers_per_gather = 0 set enable_indexscan = off set enable_indexonlyscan = off
set enable_bitmapscan = off set jit = off as $$
declare
  c_most_bytes bigint := 4294967296;
  v_default    text := p_parent || '_default';
  v_start      timestamptz;
  v_took       interval;
  v_rows       bigint;
begin
  note := format('%s has grown too large to be read under a lock; in a quiet hour call select %s(%L)',
    v_default, 'postrider.retire_default', p_parent);
  if pg_relation_size(format('postrider.%I', v_default)) > c_most_bytes then
    return;
  end if;
  for i in 1..2 loop
    v_start := clock_timestamp();
    execute format('select count(*) from postrider.%I d where d.%I < %L', v_default,
      case p_parent when 'message' then 'id' else 'finished_at' end,
      postrider.partition_bound(p_parent, now() + interval '366 days')) into v_rows;
    v_took := clock_timestamp() - v_start;
    exit when v_took <= p_longest;
  end loop;
  if v_took > p_longest then
    return;
  elsif v_rows = 0 then
    note := null; -- Only space that vacuum has not given back yet.
    return;
  end if;
  begin
    retired := postrider.replace_default(p_parent, 10000);
    note := null;
  exception
    when lock_not_available then
      note := format('%s was in use for longer than the lock timeout', p_parent);
    when program_limit_exceeded then
      note := format('%s; in a quiet hour call select %s(%L)', sqlerrm, 'postrider.retire_default', p_parent);
  end;
end $$;

-- Makes the partitions from today to so many days ahead that are missing. Safe to call at any time and by
-- many at once: the first does the work. What could not be done now comes back with a note, and is tried
-- again by the next call. Each new partition means reading the default once under a lock. So one that has
-- grown large is retired first, and the days are left to the next call.
-- Locks last until the transaction ends. Do one parent in a transaction: one that waits for a lock on attempt and holds
-- one on message could be in a deadlock with readers of both.
create or replace function postrider.ensure_partitions(p_days_ahead int, p_parents text[] default '{message, attempt}')
returns table (name text, created boolean, note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO'
-- Whoever needs what we wait for waits behind us, but no longer than this.
set lock_timeout = '200ms' as $$
declare
  c_large  bigint := 16 * 1024 * 1024;
  v_parent text;
  v_live   boolean;
  v_days   date[];
  v_notes  jsonb := '{}';
begin
  if p_days_ahead is null or p_days_ahead not between 0 and 366 then
    raise exception using errcode = 'invalid_parameter_value',
      message = format('days ahead must lie between 0 and 366, got %s', p_days_ahead);
  elsif p_parents is null or not p_parents <@ '{message, attempt}' then
    raise exception using errcode = 'invalid_parameter_value',
      message = format('parents must be message or attempt, got %s', p_parents);
  end if;
  begin
    lock table postrider.partition_lock in share row exclusive mode nowait;
  exception when lock_not_available then
    return; -- another one is at it
  end;
  foreach v_parent in array p_parents loop
    continue when pg_relation_size(format('postrider.%I', v_parent || '_default')) <= c_large
      or coalesce(postrider.missing_days(v_parent, p_days_ahead, false),
                  postrider.missing_days(v_parent, p_days_ahead, true)) is null;
    select r.retired, r.note into name, note from postrider.relieve_default(v_parent) r;
    if name is not null then
      created := true;
      note := format('all rows of %s_default; call again for the days to come', v_parent);
      return next;
      return;
    end if;
    v_notes := v_notes || jsonb_build_object(v_parent, note);
  end loop;
  -- The days to come first: they need the lesser locks, and once made they never become live without one.
  for v_live, v_parent in
    select l.live, p.parent from (values (false), (true)) l(live), unnest(p_parents) with ordinality p(parent, n)
     order by l.live, p.n
  loop
    v_days := postrider.missing_days(v_parent, p_days_ahead, v_live);
    continue when v_days is null;
    note := v_notes ->> v_parent;
    if note is null then
      begin
        return query select * from postrider.attach_days(v_parent, v_days, v_live);
      exception
        when lock_not_available then
          note := format('%s was in use for longer than the lock timeout', v_parent);
        when check_violation then
          note := format('%s_default holds rows of a day to come', v_parent);
      end;
    end if;
    if note is not null then
      return query select v_parent || to_char(d.day, '_YYYYMMDD'), false, note from unnest(v_days) d(day);
    end if;
  end loop;
end $$;

-- For a default partition that ensure_partitions leaves alone: retires it whatever its size. Everyone waits while the
-- server reads the table. Returns the partition's name.
create or replace function postrider.retire_default(p_parent text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '5s' as $$
begin
  if p_parent is null or p_parent not in ('message', 'attempt') then
    raise exception using errcode = 'invalid_parameter_value',
      message = format('parent must be message or attempt, got %s', p_parent);
  end if;
  lock table postrider.partition_lock in share row exclusive mode;
  return postrider.replace_default(p_parent, 9223372036854775806);
end $$;
