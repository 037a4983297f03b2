-- Daily partitions (UTC), made ahead of time. A day without one fails nothing: the default has its rows.

create view postrider.partition as
select p.relname as parent, c.relname as name, m.bounds is null as is_default,
       case when m.bounds[1] = 'MINVALUE' then '-infinity'
            when p.relname = 'message' then postrider.id_time(trim(m.bounds[1], '''')::uuid)
            else trim(m.bounds[1], '''')::timestamptz end as from_at,
       case when p.relname = 'message' then postrider.id_time(trim(m.bounds[2], '''')::uuid)
            else trim(m.bounds[2], '''')::timestamptz end as to_at
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class p on p.oid = i.inhparent
  join pg_catalog.pg_class c on c.oid = i.inhrelid
 cross join lateral (
   select regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \((.*)\) TO \((.*)\)') as bounds) m
 where i.inhparent in ('postrider.message'::regclass, 'postrider.attempt'::regclass);

-- A bound of a partition, as its parent's partition column has it.
create function postrider.partition_bound(p_parent text, p_at timestamptz) returns text
language sql stable strict
return case p_parent when 'message' then postrider.id_floor(p_at)::text else p_at::text end;

-- Makes a table that can be attached to the parent. LIKE does not copy the replica identity.
create function postrider.partition_like(p_name text, p_parent text, p_options text default '') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('create table postrider.%I (like postrider.%I including all) %s', p_name, p_parent, p_options);
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
create function postrider.attach_days(p_parent text, p_days date[], p_live boolean)
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

-- Makes the partitions from today to so many days ahead that are missing. Safe to call at any time and by
-- many at once: the first does the work. What could not be done now comes back with a note, and is tried
-- again by the next call.
create function postrider.ensure_partitions(p_days_ahead int)
returns table (name text, created boolean, note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO'
-- Whoever needs what we wait for waits behind us, but no longer than this.
set lock_timeout = '200ms' as $$
declare
  c_most   bigint := 16 * 1024 * 1024;
  v_parent text;
  v_live   boolean;
  v_days   date[];
  v_note   text;
begin
  if p_days_ahead is null or p_days_ahead not between 0 and 366 then
    raise exception using errcode = 'invalid_parameter_value',
      message = format('days ahead must lie between 0 and 366, got %s', p_days_ahead);
  end if;
  if not pg_try_advisory_xact_lock(hashtext('postrider.partitions')) then
    return;
  end if;
  -- The days to come first: they need the lesser locks, and once made they never become live without one.
  for v_live, v_parent in
    select l.live, p.parent from (values (false), (true)) l(live), (values ('message'), ('attempt')) p(parent)
     order by 1, 2 desc
  loop
    select array_agg(d.day order by d.day) into v_days
      from (select current_date + n as day from generate_series(0, p_days_ahead) n) d
     where (d.day <= (now() + interval '10 minutes')::date) = v_live
       and not exists (select from postrider.partition p
                        where p.parent = v_parent and p.from_at < d.day + 1 and p.to_at > d.day);
    continue when v_days is null;
    v_note := null;
    if pg_table_size(format('postrider.%I', v_parent || '_default')) > c_most then
      v_note := format('%s_default has grown too large to be searched under a lock; call %s(%L) in a quiet hour',
        v_parent, 'postrider.retire_default', v_parent);
    else
      begin
        return query select * from postrider.attach_days(v_parent, v_days, v_live);
      exception
        when lock_not_available then
          v_note := format('%s was in use for longer than the lock timeout', v_parent);
        when check_violation then
          v_note := format('%s_default holds rows of a day to come', v_parent);
      end;
    end if;
    if v_note is not null then
      return query select v_parent || to_char(d.day, '_YYYYMMDD'), false, v_note from unnest(v_days) d(day);
    end if;
  end loop;
end $$;

-- For a default partition that has grown too large for ensure_partitions: makes it a partition of its own,
-- named for its last day, beside a new and empty default. No row is copied, but everyone waits while the
-- server reads the table once. Returns the partition's name.
create function postrider.retire_default(p_parent text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO' set lock_timeout = '5s' as $$
declare
  v_default text := p_parent || '_default';
  v_column  text := case p_parent when 'message' then 'id' else 'finished_at' end;
  v_lower   timestamptz;
  v_last    timestamptz;
  v_name    text;
begin
  if p_parent is null or p_parent not in ('message', 'attempt') then
    raise exception using errcode = 'invalid_parameter_value',
      message = format('parent must be message or attempt, got %s', p_parent);
  end if;
  perform pg_advisory_xact_lock(hashtext('postrider.partitions'));
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
  execute format('alter table postrider.%I detach partition postrider.%I', p_parent, v_default);
  execute format('alter table postrider.%I rename to %I', v_default, v_name);
  perform postrider.partition_like(v_default, p_parent);
  if v_lower > '-infinity' then
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
