-- The value of each sequence and the value it must have at least. Logical replication copies tables but no sequences.
-- In a copy the sequences start again, and a new key, route or worker would take the number of an old one.
create or replace function postrider.sequence_places() returns table (name text, place bigint, needed bigint)
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
  -- This sequence belongs to no column. It started at the clock time of the migration.
  name := 'lease_token';
  place := coalesce(pg_sequence_last_value('postrider.lease_token'), 0);
  select greatest((select max(l.token) from postrider.lease l),
                  (select (extract(epoch from min(m.applied_at)) * 1000000)::bigint from postrider.migration m))
    into needed;
  return next;
end $$;

-- Moves every sequence that is behind its table past it, and the lease tokens to the clock time. So they are higher
-- than those of the database that this one was copied from. Returns what it moved. Safe to call at any time.
create or replace function postrider.advance_sequences(p_actor text) returns table (name text, was bigint, now_at bigint)
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
