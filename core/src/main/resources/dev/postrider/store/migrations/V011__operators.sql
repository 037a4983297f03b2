-- What operators look at and do beside dead letters, replay and archive: pauses, search, who is alive.

-- Stops a destination by its name, or a topic as namespace/topic, and says whether it was not paused yet. A destination
-- that no relay knows is refused, unless forced.
create function postrider.pause_on(p_actor text, p_kind text, p_name text, p_force boolean default false) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if p_kind is null or p_kind not in ('destination', 'topic') then
    perform postrider.refuse_act(format('kind must be destination or topic, got %s', p_kind));
  elsif coalesce(btrim(p_name), '') = '' then
    perform postrider.refuse_act('name is missing; say what to pause');
  elsif p_kind = 'topic' and position('/' in p_name) < 2 then
    perform postrider.refuse_act(format('a topic is named namespace/topic, got %s', p_name));
  end if;
  perform postrider.record_act(null, p_actor, 'pause', jsonb_build_object('kind', p_kind, 'name', p_name), null);
  if p_kind = 'destination' and not p_force
    and not exists (select from postrider.pause p where p.kind = p_kind and p.name = p_name) then
    perform postrider.check_destination(p_name);
  end if;
  insert into postrider.pause (kind, name, paused_by) values (p_kind, p_name, p_actor) on conflict do nothing;
  return found;
end $$;

-- Lets it go on, and says whether it was paused. Relays that sleep hear of it at once.
create function postrider.pause_off(p_actor text, p_kind text, p_name text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  delete from postrider.pause p where p.kind = p_kind and p.name = p_name;
  if not found then
    return false;
  end if;
  perform postrider.record_act(null, p_actor, 'resume', jsonb_build_object('kind', p_kind, 'name', p_name), null);
  perform pg_notify('postrider', 'pause');
  return true;
end $$;

-- Workers that live say so now and then: one that was killed cannot say that it stopped.
create function postrider.workers_seen(p_workers int[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update postrider.worker w set seen_at = now() where w.id = any (p_workers) and w.stopped_at is null
$$;

-- The next messages that match, the newest first, by the narrowest index the conditions allow: key,
-- aggregate, tenant, or else the log itself. Looks at no more than 5,000, so that a rare condition never
-- makes a long statement: `done` is false while there is more to look at before p_before.
create function postrider.message_scan(
  p_filter jsonb, p_limit int, inout p_before uuid, out hits uuid[], out done boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set jit = off as $$
declare
  v_key    bigint := postrider.key_of(p_filter);
  v_path   text := case
    when v_key is not null then 'm.key_id = $3 and m.sequence < $7'
    when p_filter ? 'aggregate_id'
      then 'm.aggregate_type = $4 ->> ''aggregate_type'' and m.aggregate_id = $4 ->> ''aggregate_id'' and m.id < $1'
    when p_filter ? 'tenant' then 'm.tenant = $4 ->> ''tenant'' and m.id < $1'
    else 'm.id < $1' end;
begin
  perform postrider.check_filter(p_filter, array['namespace', 'topic', 'key', 'tenant', 'aggregate_type',
    'aggregate_id', 'event_type', 'from', 'to']);
  if p_filter ? 'aggregate_id' and not p_filter ? 'aggregate_type' then
    perform postrider.refuse_act('an aggregate_id goes with its aggregate_type; give both');
  end if;
  execute format($q$
    with seen as materialized (
      select m.id, m.route, m.key_id, m.tenant, m.aggregate_type, m.aggregate_id, m.event_type,
             row_number() over (order by %2$s desc) as place
        from (select * from postrider.message m
               where %1$s and m.id >= $2 and m.id < $8 order by %2$s desc limit 5000) m),
    hits as materialized (
      select s.id, s.place from seen s
       where postrider.matches($4, $5, $3, s.route, s.key_id, s.tenant, s.aggregate_type, s.aggregate_id,
               s.event_type)
       order by s.place limit $6)
    select array(select h.id from hits h order by h.place), e.id,
           (select count(*) from hits) < $6 and (select count(*) from seen) < 5000
      from (select 1) one left join lateral (
        select s.id from seen s
         where (select count(*) from hits) < $6 or s.place = (select max(h.place) from hits h)
         order by s.place desc limit 1) e on true $q$,
    v_path, case when v_key is not null then 'm.sequence' else 'm.id' end)
    into hits, p_before, done
    using coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
      coalesce(postrider.id_floor((p_filter ->> 'from')::timestamptz), '00000000-0000-0000-0000-000000000000'),
      v_key, p_filter, postrider.routes_of(p_filter), p_limit,
      coalesce((select m.sequence from postrider.message m where m.id = p_before), 9223372036854775807),
      coalesce(postrider.id_floor((p_filter ->> 'to')::timestamptz), 'ffffffff-ffff-ffff-ffff-ffffffffffff');
end $$;

-- Where each sequence stands, and where it must stand at least. Logical replication copies tables, but no sequences:
-- in a copy they are at their beginning, and each new key, route or worker takes the number of an old one.
create function postrider.sequence_places() returns table (name text, place bigint, needed bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off as $$
declare
  v_owned record;
begin
  for v_owned in
    select s.oid, s.relname, t.relname as owner, a.attname
      from pg_class s
      join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid
       and d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0 and d.deptype in ('a', 'i')
      join pg_class t on t.oid = d.refobjid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
     where s.relkind = 'S' and s.relnamespace = 'postrider'::regnamespace order by s.relname
  loop
    name := v_owned.relname;
    place := coalesce(pg_sequence_last_value(v_owned.oid), 0);
    execute format('select coalesce(max(t.%I), 0) from postrider.%I t', v_owned.attname, v_owned.owner) into needed;
    return next;
  end loop;
  -- Belongs to no column. It started at the clock when the schema was made.
  name := 'lease_token';
  place := coalesce(pg_sequence_last_value('postrider.lease_token'), 0);
  select greatest((select max(l.token) from postrider.lease l),
                  (select (extract(epoch from min(m.applied_at)) * 1000000)::bigint from postrider.migration m))
    into needed;
  return next;
end $$;

-- Sets every sequence that is behind its table past it, and the lease tokens to the clock: so they are higher than
-- whatever the database that this one is a copy of has given out. Says what it moved. Harmless at any time.
create function postrider.advance_sequences(p_actor text) returns table (name text, was bigint, now_at bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_moved jsonb := '{}';
begin
  for name, was, now_at in
    select p.name, p.place, case when p.name = 'lease_token'
             then greatest(p.needed, (extract(epoch from clock_timestamp()) * 1000000)::bigint) else p.needed end
      from postrider.sequence_places() p
  loop
    if now_at > was then
      perform setval(format('postrider.%I', name)::regclass, now_at);
      v_moved := v_moved || jsonb_build_object(name, now_at);
      return next;
    end if;
  end loop;
  perform postrider.record_act(null, p_actor, 'sequences.advance', v_moved, null);
end $$;
