-- `any`: those that can be requeued at all, for when they are named one by one.
create or replace function postrider.dead_wanted(p_filter jsonb) returns text
language sql immutable
return case p_filter ->> 'resolution'
         when 'discarded' then 'd.resolution = ''discarded'''
         when 'any' then '(d.resolved_at is null or d.resolution = ''discarded'')'
         else 'd.resolved_at is null' end
    || case when p_filter ->> 'blocking' = 'true' then ' and d.blocking' else '' end;

-- The next few dead letters that match. Looks at no more than 5,000, so that a rare condition never makes
-- a long statement: `done` is false while there is more to look at behind (p_at, p_id).
create or replace function postrider.dead_scan(
  p_filter jsonb, p_newest_first boolean, p_until timestamptz, p_limit int,
  inout p_at timestamptz, inout p_id uuid, out hits uuid[], out subscriptions smallint[], out done boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $$
declare
  v_order text := case when p_newest_first then 'desc' else 'asc' end;
begin
  perform postrider.check_filter(p_filter, array['namespace', 'topic', 'key', 'tenant', 'aggregate_type',
    'aggregate_id', 'event_type', 'subscription', 'code', 'from', 'to', 'blocking', 'resolution']);
  execute format($q$
    with seen as materialized (
      -- Those of one message in several subscriptions have one place, and are never cut in two.
      select d.message_id, d.subscription, d.died_at, d.route, d.key_id, d.code,
             dense_rank() over (order by d.died_at %2$s, d.message_id %2$s) as place
        from (select * from postrider.dead_letter d
               where %1$s and d.died_at >= $1 and d.died_at < $2
                 and (d.died_at, d.message_id) %3$s ($3, $4)
               order by d.died_at %2$s, d.message_id %2$s fetch first 5000 rows with ties) d),
    hits as materialized (
      select s.message_id, s.subscription, s.place from seen s
       where coalesce(s.code = $5 ->> 'code', not $5 ? 'code')
         and ($6 is null or s.route = any ($6)) and ($7 is null or postrider.plain_key(s.key_id) = $7)
         and (not $5 ?| array['tenant', 'aggregate_type', 'aggregate_id', 'event_type'] or exists (
           select from postrider.message m where m.id = s.message_id and postrider.matches(
             $5, null, $7, m.route, m.key_id, m.tenant, m.aggregate_type, m.aggregate_id, m.event_type)))
       order by s.place fetch first ($8) rows with ties)
    select array(select h.message_id from hits h order by h.place, h.subscription),
           array(select h.subscription from hits h order by h.place, h.subscription), e.died_at, e.message_id,
           (select count(*) from hits) < $8 and (select count(*) from seen) < 5000
      from (select 1) one left join lateral (
        select s.died_at, s.message_id from seen s
         where (select count(*) from hits) < $8 or s.place = (select max(h.place) from hits h)
         order by s.place desc limit 1) e on true $q$,
    postrider.dead_wanted(p_filter), v_order, case when p_newest_first then '<' else '>' end)
    into hits, subscriptions, p_at, p_id, done
    using coalesce((p_filter ->> 'from')::timestamptz, '-infinity'),
      least((p_filter ->> 'to')::timestamptz, p_until),
      coalesce(p_at, case when p_newest_first then 'infinity' else '-infinity' end::timestamptz),
      coalesce(p_id, '00000000-0000-0000-0000-000000000000'), p_filter,
      postrider.routes_of(p_filter), postrider.key_of(p_filter), p_limit;
end $$;

-- Locks the dead letters to act on, oldest first: the given ones, or the next few that match. Those of one kind of error
-- are given: the caller tells them by their texts. Then the audit has the filter with the kind, and not their ids.
create or replace function postrider.dead_pick(
  p_filter jsonb, p_ids uuid[], p_limit int, p_until timestamptz, inout p_at timestamptz, inout p_id uuid,
  out picked uuid[], out subscriptions smallint[], out done boolean)
language plpgsql as $$
declare
  v_picked uuid[] := p_ids;
  v_of     smallint[];
begin
  done := true;
  if p_ids is null then
    select s.hits, s.subscriptions, s.p_at, s.p_id, s.done into v_picked, v_of, p_at, p_id, done
      from postrider.dead_scan(p_filter, false, p_until, p_limit, p_at, p_id) s;
  end if;
  -- One who waited here for another operator finds the row resolved, and leaves it.
  execute format($q$
    select array_agg(d.message_id), array_agg(d.subscription) from (
      select d.message_id, d.subscription from postrider.dead_letter d
       where d.message_id = any ($1) and %s and ($3 is null or d.route = any ($3)) and ($4 is null or d.died_at < $4)
         and ($2 is null or exists (
           select from unnest($1, $2) p(id, subscription)
            where p.id = d.message_id and p.subscription = d.subscription))
       order by d.died_at, d.message_id, d.subscription for update) d $q$, postrider.dead_wanted(p_filter))
    into picked, subscriptions using v_picked, v_of, case when p_ids is not null then postrider.routes_of(p_filter) end,
      (p_filter ->> 'to')::timestamptz;
end $$;

-- Opens a new delivery for dead letters: same id, same sequence, attempts from 0. A blocked head is
-- given back in place; its followers stay parked until it leaves.
create or replace function postrider.requeue_dead(
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
    select m.id, d.key_id, m.sequence, d.route, m.tenant, d.subscription, d.delivery, d.blocking,
           octet_length(m.payload) + coalesce(octet_length(m.headers::text), 0) as size
      from unnest(v_pick.picked, v_pick.subscriptions) p(id, subscription)
      join postrider.dead_letter d on d.message_id = p.id and d.subscription = p.subscription
      join postrider.message m on m.id = d.message_id
     where d.resolved_at is null or d.resolution = 'discarded'
  loop
    update postrider.queue q
       set blocked = false, lane = -1 - q.lane, due_at = null, attempts = 0, lost_leases = 0, delivery = q.delivery + 1
     where v_dead.blocking and q.blocked and q.key_id = v_dead.key_id and q.sequence = v_dead.sequence;
    if not found then
      insert into postrider.queue (id, key_id, sequence, route, size, lane, delivery, subscription)
      values (v_dead.id, v_dead.key_id, coalesce(v_dead.sequence, postrider.id_number(v_dead.id)), v_dead.route,
        v_dead.size, postrider.lane_of(v_dead.tenant), v_dead.delivery + 1, v_dead.subscription)
      on conflict do nothing;
      continue when not found;
    end if;
    update postrider.dead_letter d
       set resolved_at = now(), resolution = 'requeued', resolved_by = p_actor, reason = null
     where d.message_id = v_dead.id and d.subscription = v_dead.subscription and d.delivery = v_dead.delivery;
    requeued := requeued + 1;
  end loop;
  audit := postrider.record_act(p_audit, p_actor, 'dead.requeue', jsonb_strip_nulls(jsonb_build_object(
    'filter', p_filter, 'ids', case when not p_filter ? 'fingerprint' then p_ids end)), requeued);
  at := v_pick.p_at;
  id := v_pick.p_id;
  done := v_pick.done;
  if requeued > 0 then
    perform postrider.ring_all();
  end if;
end $$;

-- Gives dead letters up for good, with the reason. A blocked head leaves the queue, and its key goes on.
create or replace function postrider.discard_dead(
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
      from unnest(v_pick.picked, v_pick.subscriptions) p(id, subscription)
     where d.message_id = p.id and d.subscription = p.subscription and d.resolved_at is null
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
  audit := postrider.record_act(p_audit, p_actor, 'dead.discard', jsonb_strip_nulls(jsonb_build_object(
    'filter', p_filter, 'ids', case when not p_filter ? 'fingerprint' then p_ids end, 'reason', p_reason)), discarded);
  at := v_pick.p_at;
  id := v_pick.p_id;
  done := v_pick.done;
end $$;
