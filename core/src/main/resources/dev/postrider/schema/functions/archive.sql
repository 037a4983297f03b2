-- Everything older than this may be archived. At least two days: enqueue takes ids of up to a day ago.
create or replace function postrider.archive_cutoff(p_retention interval) returns uuid
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_retention < interval '2 days' then
    perform postrider.refuse_act('a retention of ' || p_retention || ' is too short; at least 2 days are kept');
  end if;
  return postrider.id_floor(now() - p_retention);
end $$;

-- What partitions there are is read from the catalogue, whoever made them. Bounds as text, null if open.
create or replace function postrider.archive_partitions(p_table text)
returns table (name text, lower text, upper text, fallback boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select c.relname::text, (regexp_match(b.bound, 'FROM \(''([^'']+)''\)'))[1],
         (regexp_match(b.bound, 'TO \(''([^'']+)''\)'))[1], b.bound = 'DEFAULT'
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    cross join lateral pg_get_expr(c.relpartbound, c.oid) b(bound)
   where i.inhparent = ('postrider.' || quote_ident(p_table))::regclass and p_table in ('message', 'attempt')
   order by b.bound = 'DEFAULT', c.relname
$$;

-- From the first archive run on, messages are removed only after they were archived, until somebody decides otherwise.
-- A relay without the settings of the others would remove what they should archive. Answers whether this changed.
create or replace function postrider.archive_require(p_actor text, p_required boolean) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update postrider.engine e set archive_first = p_required where e.archive_first <> p_required;
  if not found then
    return false;
  end if;
  perform postrider.record_act(null, p_actor,
    case when p_required then 'archive.required' else 'archive.optional' end, '{}', null);
  return true;
end $$;

-- Refuses to remove messages that should be archived.
create or replace function postrider.check_archive_first() returns void
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  if (select e.archive_first from postrider.engine e) then
    perform postrider.refuse_act('messages of this database are archived before they are removed. Use an archive here '
      || 'too (settings postrider.archive, in Java RetentionConfig.withArchive), or keep messages for ever here. If they '
      || 'need no archive any more: ./postrider archive --optional');
  end if;
end $$;

-- Whether nothing in this range of ids is queued, or dead and unresolved. Reads the queue from end to end, since no index
-- of it goes by id. So do not call it where sequential scans are off.
create or replace function postrider.archive_clear(p_lower uuid, p_upper uuid) returns boolean
language sql stable as $$
  select not exists (select from postrider.queue q where q.id >= p_lower and q.id < p_upper)
    and not exists (
      select from postrider.dead_letter d
       where d.message_id >= p_lower and d.message_id < p_upper and d.resolved_at is null)
$$;

-- The partitions with something older than the cutoff, and whether they can go as a whole.
-- Reads the queue once, however many partitions there are.
create or replace function postrider.archive_plan(p_before uuid) returns table (name text, whole boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  with unsettled as materialized (
    select q.id from postrider.queue q where q.id < p_before
    union all
    select d.message_id from postrider.dead_letter d where d.message_id < p_before and d.resolved_at is null)
  select p.name, not p.fallback and p.upper is not null and p.upper::uuid <= p_before
         and not exists (
           select from unsettled u
            where u.id >= coalesce(p.lower::uuid, '00000000-0000-0000-0000-000000000000') and u.id < p.upper::uuid)
    from postrider.archive_partitions('message') p
   where p.fallback or p.lower is null or p.lower::uuid < p_before
$$;

-- Somebody may have dropped a partition since the plan was made. Then there is nothing left to do in it.
create or replace function postrider.has_partition(p_table text, p_name text) returns boolean
language sql stable as $$
  select exists (select from postrider.archive_partitions(p_table) p where p.name = p_name)
$$;

-- Leaves the sequence of messages that are about to go with their dedupe keys, so that a duplicate is told it
-- for as long as the dedupe key is kept. Here rather than in enqueue, which would pay for it every time.
create or replace function postrider.archive_keep_sequences(p_ids uuid[]) returns void
language sql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
  update postrider.dedupe d set sequence = m.sequence
    from postrider.message m
   where m.id = any (p_ids) and m.dedupe_key is not null and m.sequence is not null
     and m.id >= (select u from unnest(p_ids) u order by u limit 1)
     and m.id <= (select u from unnest(p_ids) u order by u desc limit 1)
     and d.route = m.route and d.dedupe_key = m.dedupe_key collate "C" and d.message_id = m.id
     and d.sequence is null
$$;

-- The next messages of a partition as lines of JSON, all that belongs to them included; a line is null if
-- the message must stay. Pages rather than one cursor over everything: a snapshot held for the whole of a
-- large partition would keep the queue from being vacuumed. The payload of JSON messages is a string and
-- not nested, so that it comes back byte for byte and never breaks the line.
create or replace function postrider.archive_page(
  p_partition text, p_before uuid, p_after uuid, p_limit int, p_bytes bigint default 16777216)
returns table (id uuid, line text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_ids uuid[];
begin
  if not postrider.has_partition('message', p_partition) then
    return;
  end if;
  execute format($q$
    select array(
      select s.id from (
        select m.id, sum(octet_length(m.payload)) over (order by m.id) - octet_length(m.payload) as before
          from (select * from postrider.%I m where m.id > $1 and m.id < $2 order by m.id limit $3) m) s
       where s.before < $4 order by s.id) $q$, p_partition)
    into v_ids
    using coalesce(p_after, '00000000-0000-0000-0000-000000000000'), p_before, p_limit, p_bytes;
  perform postrider.archive_keep_sequences(v_ids);
  return query
    with done as materialized (select s.id from postrider.settled(v_ids) s(id)),
    attempts as materialized (
      select h.message_id, json_agg(json_build_object('delivery', h.delivery, 'no', h.no,
               'state', (array['DISPATCHED', 'RETRYABLE', 'FAILED', 'ZOMBIE_REQUEUE', 'CONFLICT'])[h.state],
               'claimed_at', h.claimed_at, 'finished_at', h.finished_at, 'latency_ms', h.latency_ms,
               'worker', (select w.name from postrider.worker w where w.id = h.worker),
               'code', h.code, 'error', h.error, 'reference', h.reference,
               'subscription', (select r.subscription from postrider.message m join postrider.route r on r.topic_id = m.route
                                 where h.subscription > 0 and m.id = h.message_id and r.topic_id > 0
                                   and r.number = h.subscription)) order by h.finished_at) as list
        from postrider.attempt h where h.message_id = any (v_ids) group by h.message_id),
    deaths as materialized (
      select d.message_id, json_agg(json_build_object('delivery', d.delivery, 'died_at', d.died_at,
               'attempts', d.attempts, 'code', d.code, 'error', d.error, 'resolved_at', d.resolved_at,
               'resolution', d.resolution, 'resolved_by', d.resolved_by, 'reason', d.reason,
               'subscription', (select r.subscription from postrider.route r where d.subscription > 0 and r.id = d.route))
               order by d.delivery) as list
        from postrider.dead_letter d where d.message_id = any (v_ids) group by d.message_id),
    lines as materialized (
      select m.id, json_strip_nulls(json_build_object(
          'id', m.id, 'namespace', r.namespace, 'topic', r.topic, 'created_at', m.created_at,
          'not_before', m.not_before, 'tenant', m.tenant, 'aggregate_type', m.aggregate_type,
          'aggregate_id', m.aggregate_id, 'event_type', m.event_type, 'key', m.ordering_key,
          'sequence', m.sequence, 'dedupe_key', m.dedupe_key, 'content_type', m.content_type,
          'headers', m.headers,
          'payload', case when m.is_json then convert_from(m.payload, 'UTF8') end,
          'payload_base64', case when not m.is_json then translate(encode(m.payload, 'base64'), E'\n', '') end,
          'attempts', a.list, 'dead_letters', d.list))::text as line
        from done s
        join postrider.message m on m.id = s.id and m.id >= v_ids[1] and m.id <= v_ids[cardinality(v_ids)]
        join postrider.route r on r.id = m.route
        left join attempts a on a.message_id = m.id
        left join deaths d on d.message_id = m.id)
    select i.id, l.line from unnest(v_ids) with ordinality i(id, place) left join lines l on l.id = i.id
     order by i.place;
end $$;

-- The next ids of a partition, in their order.
create or replace function postrider.partition_ids(p_partition text, p_after uuid, p_before uuid, p_limit int) returns uuid[]
language plpgsql stable set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  v_ids uuid[];
begin
  execute format('select array(select m.id from postrider.%I m where m.id > $1 and m.id < $2 order by m.id limit $3)',
    p_partition)
    into v_ids using coalesce(p_after, '00000000-0000-0000-0000-000000000000'), p_before, p_limit;
  return v_ids;
end $$;

-- How many rows a partition has, by its primary key: the rows themselves may be many gigabytes.
create or replace function postrider.partition_count(p_partition text) returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  v_n bigint;
begin
  execute format('select count(*) from (select m.id from postrider.%I m order by m.id) i', p_partition) into v_n;
  return v_n;
end $$;

-- How many of the next 5,000 messages of a partition would be archived, for a dry run.
create or replace function postrider.archive_count(
  p_partition text, p_before uuid, inout p_after uuid, out settled bigint, out kept bigint, out done boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_ids uuid[] := '{}';
begin
  if postrider.has_partition('message', p_partition) then
    v_ids := postrider.partition_ids(p_partition, p_after, p_before, 5000);
  end if;
  settled := (select count(*) from postrider.settled(v_ids) s);
  kept := cardinality(v_ids) - settled;
  done := cardinality(v_ids) < 5000;
  p_after := coalesce(v_ids[cardinality(v_ids)], p_after);
end $$;

-- Keeps other runs out until the transaction ends, which may take hours without a statement. Answers false if there
-- is another one.
create or replace function postrider.archive_begin() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  lock table postrider.archive_lock in share row exclusive mode nowait;
  perform set_config('idle_in_transaction_session_timeout', '0', true);
  return true;
exception when lock_not_available then
  return false;
end $$;

-- A file is known here before anything in it is removed from the log. The name tells the content, so the
-- same name again is the same file again.
create or replace function postrider.archive_record(
  p_actor text, p_name text, p_partition text, p_first uuid, p_last uuid, p_messages bigint, p_bytes bigint,
  p_sha256 text, p_location text)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into postrider.archive_file (name, partition, first_id, last_id, messages, bytes, sha256, location, written_by)
  values (p_name, p_partition, p_first, p_last, p_messages, p_bytes, p_sha256, p_location, p_actor)
  on conflict (name) do update set written_at = now(), written_by = p_actor, location = p_location;
  perform postrider.record_act(null, p_actor, 'archive.write',
    jsonb_build_object('file', p_name, 'partition', p_partition, 'sha256', p_sha256, 'location', p_location), p_messages);
end $$;

-- Removes messages that are in a recorded file and still settled; a message replayed since stays.
create or replace function postrider.archive_remove(p_file text, p_ids uuid[]) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = '5s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_file postrider.archive_file;
  v_n    int;
begin
  perform postrider.check_isolation();
  lock table postrider.retention_lock in share row exclusive mode;
  select * into v_file from postrider.archive_file f where f.name = p_file;
  with gone as (
    delete from postrider.message m
     where m.id = any (array(select s.id from postrider.settled(p_ids) s(id)))
       and m.id between v_file.first_id and v_file.last_id
       and m.id < postrider.archive_cutoff(interval '2 days')
    returning m.id),
  buried as (
    delete from postrider.dead_letter d using gone g where d.message_id = g.id)
  select count(*) into v_n from gone;
  return v_n;
end $$;

-- Drops a partition all of whose messages, p_messages of them, were archived. Answers false, and changes
-- nothing, if it holds another number by now or something in it was put back into the queue. True if it is
-- gone already.
-- A partition cannot be detached CONCURRENTLY beside a default partition, so the drop needs the parent's
-- lock: it is waited for no longer than 100 ms, in which new enqueues wait behind it, and held for no more
-- than the drop itself. The caller tries again after a while when it was not to be had (55P03).
-- The count comes first, under a lock that stops only writers of this old partition.
create or replace function postrider.archive_drop(p_actor text, p_partition text, p_before uuid, p_messages bigint)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms' as $$
declare
  v_part record;
  v_n    bigint;
begin
  perform postrider.check_isolation();
  select * into v_part from postrider.archive_partitions('message') p
   where p.name = p_partition and not p.fallback and p.upper::uuid <= p_before
     and p.upper::uuid <= postrider.archive_cutoff(interval '2 days');
  if not found then
    return not postrider.has_partition('message', p_partition);
  end if;
  execute format('lock table postrider.%I in share mode', p_partition);
  v_n := postrider.partition_count(p_partition);
  lock table postrider.retention_lock in share row exclusive mode;
  if v_n <> p_messages or not postrider.archive_clear(
       coalesce(v_part.lower::uuid, '00000000-0000-0000-0000-000000000000'), v_part.upper::uuid) then
    return false;
  end if;
  execute format('drop table postrider.%I', p_partition);
  perform postrider.record_act(null, p_actor, 'archive.drop',
    jsonb_build_object('partition', p_partition), p_messages);
  return true;
end $$;

-- Drops a partition of attempts that is older than the retention, unless a message that is still here has
-- attempts in it. An attempt is never more than minutes older than the time in its message's id. If more than
-- 20,000 messages would have to be looked at, the partition stays and is trimmed row by row; a later run drops it if it
-- is empty then. True if it is gone already.
create or replace function postrider.archive_drop_attempts(p_actor text, p_partition text, p_before uuid) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_upper  timestamptz;
  v_ids    uuid[];
  v_needed boolean;
begin
  perform postrider.check_isolation();
  select p.upper::timestamptz into v_upper from postrider.archive_partitions('attempt') p
   where p.name = p_partition and not p.fallback
     and p.upper::timestamptz <= postrider.id_time(p_before)
     and p.upper::timestamptz <= now() - interval '2 days';
  if not found then
    return not postrider.has_partition('attempt', p_partition);
  end if;
  v_ids := array(
    select m.id from postrider.message m where m.id < postrider.id_floor(v_upper + interval '10 minutes')
     order by m.id limit 20001);
  if cardinality(v_ids) > 20000 then
    execute format('select exists (select from postrider.%I)', p_partition) into v_needed;
  else
    execute format($q$
      select exists (
        select from unnest($1) i(id) cross join lateral (
          select from postrider.%I a where a.message_id = i.id limit 1) a) $q$, p_partition)
      into v_needed using v_ids;
  end if;
  if v_needed then
    return false;
  end if;
  execute format('drop table postrider.%I', p_partition);
  perform postrider.record_act(null, p_actor, 'archive.drop', jsonb_build_object('partition', p_partition), null);
  return true;
end $$;

-- Looks at the next p_limit old attempts of a partition, or resolved dead letters, and removes those whose
-- message is gone. Ties count as one, so that a message's attempts are never cut in two.
create or replace function postrider.archive_trim(
  p_table text, p_before uuid, p_limit int, inout p_after uuid, out removed int, out done boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_seen int;
begin
  if p_table <> 'dead_letter' and not postrider.has_partition('attempt', p_table) then
    removed := 0;
    done := true;
    return;
  end if;
  execute format($q$
    with seen as materialized (
      select t.ctid as tid, t.message_id from postrider.%1$I t
       where t.message_id > $1 and t.message_id < $2 and %2$s
       order by t.message_id fetch first $4 rows with ties),
    gone as (
      delete from postrider.%1$I t
       where t.ctid = any (array(
         select s.tid from seen s left join lateral (
           select true as here from postrider.message m where m.id = s.message_id limit 1) m on true
          where m.here is null))
      returning 1)
    select (select count(*) from gone), (select count(*) from seen),
           (select s.message_id from seen s order by s.message_id desc limit 1) $q$,
    p_table, case when p_table = 'dead_letter' then 't.resolved_at is not null' else 't.finished_at < $3' end)
    into removed, v_seen, p_after
    using coalesce(p_after, '00000000-0000-0000-0000-000000000000'),
      p_before, postrider.id_time(p_before), p_limit;
  done := v_seen < p_limit;
end $$;
