-- What operators do: dead letters, replay, archive, purge. Each function is one short transaction; the
-- caller repeats it with the position it got back. Whoever puts an old message back into the queue holds
-- `retention_lock` shared, whoever removes messages holds it alone: so no message can be removed between
-- the look at its state and the act.

create index dead_letter_blocking on postrider.dead_letter (died_at, message_id)
  where resolved_at is null and blocking;
create index dead_letter_discarded on postrider.dead_letter (died_at, message_id)
  where resolution = 'discarded';

create function postrider.refuse_act(problem text) returns void
language plpgsql as $$
begin
  raise exception using errcode = 'PR002', message = problem, hint = 'Nothing was changed.';
end $$;

-- A misspelt condition would otherwise select everything.
create function postrider.check_filter(p_filter jsonb, p_known text[]) returns void
language plpgsql as $$
declare
  v_unknown text;
begin
  select f.name into v_unknown from jsonb_object_keys(p_filter) f(name) where not f.name = any (p_known) limit 1;
  if v_unknown is not null then
    perform postrider.refuse_act(format('unknown condition %L; known are %s', v_unknown,
      array_to_string(p_known, ', ')));
  end if;
  if p_filter ? 'key' and not p_filter ? 'namespace' then
    perform postrider.refuse_act('a key is unique only within its namespace; give the namespace as well');
  end if;
end $$;

-- Writes the audit row of an act, or counts up that of an act in several steps.
create function postrider.record_act(p_audit bigint, p_actor text, p_action text, p_detail jsonb, p_count bigint)
returns bigint
language plpgsql as $$
declare
  v_id bigint;
begin
  if coalesce(btrim(p_actor), '') = '' then
    perform postrider.refuse_act('actor is missing; every act is recorded with who did it');
  end if;
  update postrider.audit a set count = a.count + p_count
   where a.id = p_audit and a.actor = p_actor and a.action = p_action returning a.id into v_id;
  if v_id is null then
    insert into postrider.audit (actor, action, detail, count)
    values (p_actor, p_action, p_detail, p_count) returning id into v_id;
  end if;
  return v_id;
end $$;

-- Relays look everywhere.
create function postrider.ring_all() returns void
language sql as $$
  select pg_notify('postrider', '')
$$;

-- For acts that put messages in front of others of their key: no claim may be looking at that key meanwhile. Running
-- claims are waited for, and new ones wait; both are short. One that is not, in a session left open, ends the wait.
create function postrider.exclude_claims() returns void
language plpgsql set lock_timeout = '2s' as $$
begin
  perform postrider.check_isolation();
  lock table postrider.claim_lock in share row exclusive mode;
exception when lock_not_available then
  raise exception using errcode = 'lock_not_available',
    message = 'a claim has been open for longer than 2 s, so nothing can be put in front of its messages',
    hint = 'Nothing was changed. Try again, or end the session that holds the lock on postrider.claim_lock (pg_locks).';
end $$;

create function postrider.routes_of(p_filter jsonb) returns int[]
language sql stable
return case when p_filter ? 'namespace' or p_filter ? 'topic' then array(
  select r.id from postrider.route r
   where r.namespace = coalesce(p_filter ->> 'namespace', r.namespace)
     and r.topic = coalesce(p_filter ->> 'topic', r.topic)) end;

-- The key's number; 0, which no key has, if there is no such key; null without the condition.
create function postrider.key_of(p_filter jsonb) returns bigint
language sql stable
return case when p_filter ? 'key' then coalesce((
  select k.id from postrider.ordering_key k
   where k.namespace = p_filter ->> 'namespace' and k.key = p_filter ->> 'key' and k.generation = 0), 0) end;

-- Columns rather than the row: a whole row would have its payload read.
create function postrider.matches(
  p_filter jsonb, p_routes int[], p_key bigint, route int, key_id bigint, tenant text,
  aggregate_type text, aggregate_id text, event_type text)
returns boolean language sql immutable parallel safe
return (p_routes is null or route = any (p_routes))
  and (p_key is null or coalesce(key_id = p_key, false))
  and coalesce(tenant = p_filter ->> 'tenant', not p_filter ? 'tenant')
  and coalesce(aggregate_type = p_filter ->> 'aggregate_type', not p_filter ? 'aggregate_type')
  and coalesce(aggregate_id = p_filter ->> 'aggregate_id', not p_filter ? 'aggregate_id')
  and coalesce(event_type = p_filter ->> 'event_type', not p_filter ? 'event_type');

-- Those of the given messages that are neither pending, processing, blocked nor dead and unresolved. A set
-- at a time: a function called for each row would cost more than its two probes. Bounds as well as ids,
-- here and below: they let the server leave out the other partitions before it opens them. And `limit 1`
-- in place of `exists`: it leaves the planner, whose statistics of the queue are always wrong, no choice
-- but a probe for each message.
create function postrider.settled(p_ids uuid[]) returns setof uuid
language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
  select m.id from postrider.message m
    left join lateral (
      (select true as queued from postrider.queue q where q.key_id = m.key_id and q.sequence = m.sequence)
      union all
      (select true from postrider.queue q
        where m.key_id is null and q.key_id is null and q.route = m.route
          and q.lane in (postrider.lane_of(m.tenant), -1 - postrider.lane_of(m.tenant))
          and q.sequence = postrider.id_number(m.id) and q.id = m.id)
      limit 1) q on true
    left join lateral (
      select true as dead from postrider.dead_letter d
       where d.message_id = m.id and d.resolved_at is null limit 1) d on true
   where m.id = any (p_ids)
     and m.id >= (select u from unnest(p_ids) u order by u limit 1)
     and m.id <= (select u from unnest(p_ids) u order by u desc limit 1)
     and q.queued is null and d.dead is null
$$;

-- `any`: those that can be requeued at all, for when they are named one by one.
create function postrider.dead_wanted(p_filter jsonb) returns text
language sql immutable
return case p_filter ->> 'resolution'
         when 'discarded' then 'd.resolution = ''discarded'''
         when 'any' then '(d.resolved_at is null or d.resolution = ''discarded'')'
         else 'd.resolved_at is null' end
    || case when p_filter ->> 'blocking' = 'true' then ' and d.blocking' else '' end;

-- The next few dead letters that match. Looks at no more than 5,000, so that a rare condition never makes
-- a long statement: `done` is false while there is more to look at behind (p_at, p_id).
create function postrider.dead_scan(
  p_filter jsonb, p_newest_first boolean, p_until timestamptz, p_limit int,
  inout p_at timestamptz, inout p_id uuid, out hits uuid[], out done boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $$
declare
  v_order text := case when p_newest_first then 'desc' else 'asc' end;
begin
  perform postrider.check_filter(p_filter, array['namespace', 'topic', 'key', 'tenant', 'aggregate_type',
    'aggregate_id', 'event_type', 'code', 'from', 'to', 'blocking', 'resolution']);
  execute format($q$
    with seen as materialized (
      select d.message_id, d.died_at, d.route, d.key_id, d.code,
             row_number() over (order by d.died_at %2$s, d.message_id %2$s) as place
        from (select * from postrider.dead_letter d
               where %1$s and d.died_at >= $1 and d.died_at < $2
                 and (d.died_at, d.message_id) %3$s ($3, $4)
               order by d.died_at %2$s, d.message_id %2$s limit 5000) d),
    hits as materialized (
      select s.message_id, s.place from seen s
       where coalesce(s.code = $5 ->> 'code', not $5 ? 'code')
         and ($6 is null or s.route = any ($6)) and ($7 is null or s.key_id = $7)
         and (not $5 ?| array['tenant', 'aggregate_type', 'aggregate_id', 'event_type'] or exists (
           select from postrider.message m where m.id = s.message_id and postrider.matches(
             $5, $6, $7, m.route, m.key_id, m.tenant, m.aggregate_type, m.aggregate_id, m.event_type)))
       order by s.place limit $8)
    select array(select h.message_id from hits h order by h.place), e.died_at, e.message_id,
           (select count(*) from hits) < $8 and (select count(*) from seen) < 5000
      from (select 1) one left join lateral (
        select s.died_at, s.message_id from seen s
         where (select count(*) from hits) < $8 or s.place = (select max(h.place) from hits h)
         order by s.place desc limit 1) e on true $q$,
    postrider.dead_wanted(p_filter), v_order, case when p_newest_first then '<' else '>' end)
    into hits, p_at, p_id, done
    using coalesce((p_filter ->> 'from')::timestamptz, '-infinity'),
      least((p_filter ->> 'to')::timestamptz, p_until),
      coalesce(p_at, case when p_newest_first then 'infinity' else '-infinity' end::timestamptz),
      coalesce(p_id, '00000000-0000-0000-0000-000000000000'), p_filter,
      postrider.routes_of(p_filter), postrider.key_of(p_filter), p_limit;
end $$;

-- Locks the dead letters to act on, oldest first: the given ones, or the next few that match.
create function postrider.dead_pick(
  p_filter jsonb, p_ids uuid[], p_limit int, p_until timestamptz, inout p_at timestamptz, inout p_id uuid,
  out picked uuid[], out done boolean)
language plpgsql as $$
begin
  if p_ids is not null then
    picked := p_ids;
    done := true;
  else
    select s.hits, s.p_at, s.p_id, s.done into picked, p_at, p_id, done
      from postrider.dead_scan(p_filter, false, p_until, p_limit, p_at, p_id) s;
  end if;
  -- One who waited here for another operator finds the row resolved, and leaves it.
  execute format($q$
    select array(
      select d.message_id from postrider.dead_letter d where d.message_id = any ($1) and %s
       order by d.died_at, d.message_id for update) $q$, postrider.dead_wanted(p_filter))
    into picked using picked;
end $$;

-- Opens a new delivery for dead letters: same id, same sequence, attempts from 0. A blocked head is
-- given back in place; its followers stay parked until it leaves.
create function postrider.requeue_dead(
  p_actor text, p_filter jsonb, p_ids uuid[], p_limit int, p_audit bigint default null,
  p_at timestamptz default null, p_id uuid default null,
  out requeued int, out audit bigint, out at timestamptz, out id uuid, out done boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $$
declare
  v_pick record;
  v_dead record;
begin
  lock table postrider.retention_lock in row exclusive mode;
  perform postrider.check_isolation();
  -- Only what had died when the act began: what dies again of it meanwhile is not requeued for ever.
  select * into v_pick from postrider.dead_pick(p_filter, p_ids, p_limit,
    coalesce((select a.at from postrider.audit a where a.id = p_audit), now()), p_at, p_id);
  perform postrider.exclude_claims();
  requeued := 0;
  for v_dead in
    select m.id, m.key_id, m.sequence, m.route, m.tenant, d.delivery, d.blocking,
           octet_length(m.payload) + coalesce(octet_length(m.headers::text), 0) as size
      from postrider.dead_letter d join postrider.message m on m.id = d.message_id
     where d.message_id = any (v_pick.picked) and (d.resolved_at is null or d.resolution = 'discarded')
  loop
    update postrider.queue q
       set blocked = false, lane = -1 - q.lane, due_at = null, attempts = 0, lost_leases = 0, delivery = q.delivery + 1
     where v_dead.blocking and q.blocked and q.key_id = v_dead.key_id and q.sequence = v_dead.sequence;
    if not found then
      insert into postrider.queue (id, key_id, sequence, route, size, lane, delivery)
      values (v_dead.id, v_dead.key_id, coalesce(v_dead.sequence, postrider.id_number(v_dead.id)), v_dead.route,
        v_dead.size, postrider.lane_of(v_dead.tenant), v_dead.delivery + 1)
      on conflict do nothing;
      continue when not found;
    end if;
    update postrider.dead_letter d
       set resolved_at = now(), resolution = 'requeued', resolved_by = p_actor, reason = null
     where d.message_id = v_dead.id and d.delivery = v_dead.delivery;
    requeued := requeued + 1;
  end loop;
  audit := postrider.record_act(p_audit, p_actor, 'dead.requeue',
    jsonb_strip_nulls(jsonb_build_object('filter', p_filter, 'ids', p_ids)), requeued);
  at := v_pick.p_at;
  id := v_pick.p_id;
  done := v_pick.done;
  if requeued > 0 then
    perform postrider.ring_all();
  end if;
end $$;

-- Gives dead letters up for good, with the reason. A blocked head leaves the queue, and its key goes on.
create function postrider.discard_dead(
  p_actor text, p_reason text, p_filter jsonb, p_ids uuid[], p_limit int, p_audit bigint default null,
  p_at timestamptz default null, p_id uuid default null,
  out discarded int, out audit bigint, out at timestamptz, out id uuid, out done boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $$
declare
  v_pick record;
  v_dead record;
  v_keys bigint[] := '{}';
begin
  if coalesce(btrim(p_reason), '') = '' then
    perform postrider.refuse_act('reason is missing; a dead letter is discarded only with a reason');
  elsif p_filter ? 'resolution' then
    perform postrider.refuse_act('discarded dead letters cannot be discarded again');
  end if;
  perform postrider.check_isolation();
  select * into v_pick from postrider.dead_pick(p_filter, p_ids, p_limit,
    coalesce((select a.at from postrider.audit a where a.id = p_audit), now()), p_at, p_id);
  discarded := 0;
  for v_dead in
    update postrider.dead_letter d
       set resolved_at = now(), resolution = 'discarded', resolved_by = p_actor, reason = p_reason
     where d.message_id = any (v_pick.picked) and d.resolved_at is null
    returning d.key_id, d.sequence, d.blocking
  loop
    discarded := discarded + 1;
    delete from postrider.queue q
     where v_dead.blocking and q.blocked and q.key_id = v_dead.key_id and q.sequence = v_dead.sequence;
    if found then
      v_keys := v_keys || v_dead.key_id;
    end if;
  end loop;
  if cardinality(v_keys) > 0 then
    perform postrider.show_followers(v_keys);
    perform postrider.ring_all();
  end if;
  audit := postrider.record_act(p_audit, p_actor, 'dead.discard', jsonb_strip_nulls(
    jsonb_build_object('filter', p_filter, 'ids', p_ids, 'reason', p_reason)), discarded);
  at := v_pick.p_at;
  id := v_pick.p_id;
  done := v_pick.done;
end $$;
