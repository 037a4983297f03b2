-- The next messages of a replay, by the narrowest index that its conditions allow: ids, key, aggregate, tenant, or
-- else the message table in the order of ids. Reads at most 5,000 messages. Each page is planned again, since the best
-- index depends on the conditions.
create or replace function postrider.replay_scan(
  p_filter jsonb, p_ids uuid[], p_from uuid, p_to uuid, p_limit int,
  inout p_position uuid, inout p_sequence bigint, out matched uuid[], out done boolean)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  v_routes int[] := postrider.routes_of(p_filter - 'subscription');
  v_key    bigint := postrider.key_of(p_filter);
  v_path   text := case
    when p_ids is not null then 'm.id = any ($3) and m.id > $6'
    when v_key is not null then 'm.key_id = $4 and m.sequence > $7'
    when p_filter ? 'aggregate_id'
      then 'm.aggregate_type = $5 ->> ''aggregate_type'' and m.aggregate_id = $5 ->> ''aggregate_id'' and m.id > $6'
    when p_filter ? 'tenant' then 'm.tenant = $5 ->> ''tenant'' and m.id > $6'
    else 'm.id > $6' end;
  v_by_key boolean := p_ids is null and v_key is not null;
begin
  execute format($q$
    with seen as materialized (
      select m.id, m.sequence, m.route, m.key_id, m.tenant, m.aggregate_type, m.aggregate_id, m.event_type,
             row_number() over (order by %2$s) as place
        from (select * from postrider.message m
               where m.id >= $1 and m.id < $2 and %1$s order by %2$s limit 5000) m),
    hits as materialized (
      select s.id, s.place from seen s
       where postrider.matches($5, $8, $4, s.route, s.key_id, s.tenant, s.aggregate_type, s.aggregate_id,
               s.event_type)
       order by s.place limit $9)
    select array(select h.id from hits h order by h.place), e.id, e.sequence,
           (select count(*) from hits) < $9 and (select count(*) from seen) < 5000
      from (select 1) one left join lateral (
        select s.id, s.sequence from seen s
         where (select count(*) from hits) < $9 or s.place = (select max(h.place) from hits h)
         order by s.place desc limit 1) e on true $q$,
    v_path, case when v_by_key then 'm.sequence' else 'm.id' end)
    into matched, p_position, p_sequence, done
    using p_from, p_to, p_ids, v_key, p_filter,
      coalesce(p_position, '00000000-0000-0000-0000-000000000000'), p_sequence, v_routes, p_limit;
end $$;

-- The order of ids is almost the order of a key's sequence: an id is made before the wait for the sequence. So a page
-- may contain a message whose predecessor in the key would come in a later page. Such predecessors are added to this
-- page. Looks back from the start of each run, past at most 8 messages in order. An id is at most a day older, or 5
-- minutes newer, than its enqueue, which bounds the partitions to read.
create or replace function postrider.replay_ahead(
  p_filter jsonb, p_ids uuid[], p_page uuid[], p_position uuid, p_to uuid, p_done uuid[])
returns uuid[]
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set enable_material = off as $$
declare
  v_low   uuid := postrider.id_floor(postrider.id_time(p_position) - interval '2 days');
  v_high  uuid := postrider.id_floor(postrider.id_time(p_position) + interval '2 days');
  v_ahead uuid[];
begin
  with recursive page as materialized (
    select m.id, m.key_id, m.sequence,
           lag(m.sequence) over (partition by m.key_id order by m.sequence) as previous
      from postrider.message m
     where m.id = any (p_page) and m.key_id is not null
       and m.id >= (select u from unnest(p_page) u order by u limit 1)
       and m.id <= (select u from unnest(p_page) u order by u desc limit 1)),
  back as (
    select p.id, p.key_id, p.sequence, 8 as patience from page p
     where p.previous is distinct from p.sequence - 1
    union all
    select m.id, m.key_id, m.sequence, case when m.id > p_position then 8 else b.patience - 1 end
      from back b cross join lateral (
        select m.id, m.key_id, m.sequence from postrider.message m
         where m.key_id = b.key_id and m.sequence = b.sequence - 1 and m.id >= v_low and m.id < v_high
         limit 1) m
     where b.patience > 0)
  select array_agg(distinct b.id) into v_ahead from back b
   where b.id > p_position and b.id < p_to and not b.id = any (p_done)
     and (p_ids is null or b.id = any (p_ids));
  if v_ahead is null then
    return '{}';
  end if;
  return array(
    select m.id from postrider.message m
     where m.id = any (v_ahead) and m.id >= v_low and m.id < v_high
       and postrider.matches(p_filter, postrider.routes_of(p_filter - 'subscription'), postrider.key_of(p_filter), m.route,
             m.key_id, m.tenant, m.aggregate_type, m.aggregate_id, m.event_type));
end $$;

-- The deliveries that a replay of these messages adds: to the named subscription, or to each subscription that got the
-- message. Deliveries that wait, are in flight, or are dead are left out. A message that the named subscription never
-- got is replayed to it. p_missing: only those that it never got.
create or replace function postrider.replayable(p_ids uuid[], p_subscription text, p_missing boolean)
returns table (
  id uuid, key_id bigint, sequence bigint, route int, lane int, size int, delivery int, subscription smallint)
language sql stable
set enable_seqscan = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
  with given as materialized (
    select m.id, m.key_id, m.sequence, m.tenant, m.route, t.fans_out, t.active,
           octet_length(m.payload) + coalesce(octet_length(m.headers::text), 0) as size
      from postrider.message m join postrider.route t on t.id = m.route
     where m.id = any (p_ids)
       and m.id >= (select u from unnest(p_ids) u order by u limit 1)
       and m.id <= (select u from unnest(p_ids) u order by u desc limit 1)),
  -- One query finds the attempts of all messages: a probe for each message would search every partition.
  last as materialized (
    select k.id, k.subscription, max(k.delivery) as delivery from (
      select a.message_id as id, a.subscription, a.delivery from postrider.attempt a
       where a.message_id = any (p_ids) and a.state <> 5
      union all
      select d.message_id, d.subscription, d.delivery from postrider.dead_letter d where d.message_id = any (p_ids)) k
     group by k.id, k.subscription),
  targets as materialized (
    select g.*, g.key_id as queue_key, g.route as target, 0::smallint as number from given g
     where (g.active or not g.fans_out)
       and case when p_subscription is null
                then not g.fans_out or exists (select from last l where l.id = g.id and l.subscription = 0)
                else p_subscription = 'default' end
    union all
    select g.*, postrider.subscription_key(g.key_id, r.id), r.id, r.number
      from given g join postrider.route r on r.topic_id = g.route
     where g.fans_out and r.topic_id > 0 and r.active
       and case when p_subscription is null
                then exists (select from last l where l.id = g.id and l.subscription = r.number)
                else r.subscription = p_subscription end)
  select t.id, t.queue_key, coalesce(t.sequence, postrider.id_number(t.id)), t.target, postrider.lane_of(t.tenant),
         t.size, 1 + greatest(case when t.number = 0 then 1 else 0 end, l.delivery), t.number
    from targets t
    left join last l on l.id = t.id and l.subscription = t.number
    left join lateral (
      select true as open from postrider.queue_of(t.id, t.route, t.key_id, t.sequence, t.tenant) q
       where q.subscription = t.number or q.route = -t.route limit 1) q on true
    left join lateral (
      select true as dead from postrider.dead_letter d
       where d.message_id = t.id and d.subscription = t.number and (d.resolved_at is null or d.resolution = 'discarded')
       limit 1) d on true
   where q.open is null and d.dead is null and not (p_missing and l.delivery is not null)
$$;

create or replace function postrider.check_replay(p_filter jsonb, p_ids uuid[]) returns void
language plpgsql as $$
begin
  perform postrider.check_filter(p_filter, array['namespace', 'topic', 'key', 'tenant', 'aggregate_type',
    'aggregate_id', 'event_type', 'subscription', 'from', 'to']);
  if p_filter = '{}' and p_ids is null then
    perform postrider.refuse_act('a replay of everything is refused; give at least one condition');
  elsif p_filter ? 'aggregate_id' and not p_filter ? 'aggregate_type' then
    perform postrider.refuse_act('an aggregate_id goes with its aggregate_type; give both');
  elsif p_filter ? 'subscription' and not p_filter ?& array['namespace', 'topic'] then
    perform postrider.refuse_act('a subscription belongs to a topic; give namespace and topic as well');
  end if;
end $$;

-- The bounds of a replay: from inclusive, to exclusive. Never later than now, so that the replay ends.
create or replace function postrider.replay_bounds(p_filter jsonb, out from_id uuid, out to_id uuid)
language sql stable as $$
  select coalesce(postrider.id_floor((p_filter ->> 'from')::timestamptz),
                  '00000000-0000-0000-0000-000000000000'),
         postrider.id_floor(least((p_filter ->> 'to')::timestamptz, now()))
$$;

-- One page of a dry run. Repeat it with the returned position until done.
create or replace function postrider.replay_count(
  p_filter jsonb, p_ids uuid[], inout from_id uuid, inout to_id uuid, inout after_id uuid,
  inout after_sequence bigint, out matched bigint, out skipped bigint, out done boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_variable
declare
  v_page record;
begin
  perform postrider.check_replay(p_filter, p_ids);
  if to_id is null then
    select b.from_id, b.to_id into from_id, to_id from postrider.replay_bounds(p_filter) b;
  end if;
  select * into v_page
    from postrider.replay_scan(p_filter, p_ids, from_id, to_id, 5000, after_id, after_sequence);
  matched := cardinality(v_page.matched);
  skipped := matched - (
    select count(distinct r.id) from postrider.replayable(v_page.matched, p_filter ->> 'subscription', false) r);
  after_id := v_page.p_position;
  after_sequence := v_page.p_sequence;
  done := v_page.done;
end $$;

create or replace function postrider.replay_start(p_actor text, p_filter jsonb, p_ids uuid[]) returns postrider.replay_job
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_job postrider.replay_job;
begin
  perform postrider.check_replay(p_filter, p_ids);
  insert into postrider.replay_job (filter, ids, from_id, to_id, created_by)
  select p_filter, p_ids, b.from_id, b.to_id, p_actor from postrider.replay_bounds(p_filter) b
  returning * into v_job;
  perform postrider.record_act(null, p_actor, 'replay.start',
    jsonb_strip_nulls(jsonb_build_object('job', v_job.id, 'filter', p_filter, 'ids', p_ids)), null);
  return v_job;
end $$;

-- Stops a replay before its next step, or lets it continue.
create or replace function postrider.replay_set_state(p_actor text, p_job bigint, p_running boolean)
returns postrider.replay_job
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_job postrider.replay_job;
begin
  update postrider.replay_job j
     set state = case when p_running then 'running' else 'stopped' end, updated_at = now()
   where j.id = p_job and j.state <> 'done' returning * into v_job;
  if v_job.id is null then
    select * into v_job from postrider.replay_job j where j.id = p_job;
    return v_job;
  end if;
  perform postrider.record_act(null, p_actor, case when p_running then 'replay.resume' else 'replay.stop' end,
    jsonb_build_object('job', p_job), v_job.requeued);
  return v_job;
end $$;

-- Called when a new subscription has all its earlier messages. Releases the next p_limit messages that arrived since
-- it was added. When none is left, the subscription becomes active, and true is returned. The caller holds the lock of
-- the topic's row. It waits for no row that a settlement is changing: that one is left for the next call.
create or replace function postrider.end_catch_up(p_route int, p_limit int) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
begin
  update postrider.queue q set route = p_route
   where q.ctid = any (array(
     select w.ctid from postrider.queue w where w.route = -p_route limit p_limit for update skip locked));
  if exists (select from postrider.queue w where w.route = -p_route) then
    return false;
  end if;
  update postrider.route r set catching_up = false where r.id = p_route;
  perform postrider.ring_all();
  return true;
end $$;

-- Requeues the next p_limit messages and moves the position, in one transaction. So a replay that died continues
-- exactly where it was. Concurrent steps of one job wait for each other.
create or replace function postrider.replay_step(p_job bigint, p_limit int) returns postrider.replay_job
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off as $$
declare
  v_job   postrider.replay_job;
  v_page  record;
  v_ids   uuid[];
  v_ahead uuid[] := '{}';
  v_n     int;
begin
  perform postrider.check_isolation();
  select * into v_job from postrider.replay_job j where j.id = p_job for update;
  if v_job.id is null or v_job.state <> 'running' then
    return v_job;
  end if;
  lock table postrider.retention_lock in row exclusive mode;
  -- Two concurrent replays of a message could both find it delivered.
  lock table postrider.replay_lock in share row exclusive mode;
  select * into v_page from postrider.replay_scan(v_job.filter, v_job.ids, v_job.from_id, v_job.to_id,
    p_limit, v_job.position, v_job.sequence);
  v_ids := array(select i from unnest(v_page.matched) i where not i = any (v_job.ahead));
  if not v_job.filter ? 'key' then
    v_ahead := postrider.replay_ahead(v_job.filter, v_job.ids, v_ids, v_page.p_position, v_job.to_id, v_job.ahead);
  end if;
  v_ids := v_ids || v_ahead;
  if v_page.done and v_job.catch_up is not null then
    -- Before claims are excluded: fan_out() has this lock and may wait for a claim.
    perform from postrider.route r where r.id = (select s.topic_id from postrider.route s where s.id = v_job.catch_up)
        for no key update;
  end if;
  perform postrider.exclude_claims();
  with opened as (
    insert into postrider.queue (id, key_id, sequence, route, size, lane, delivery, subscription)
    select r.id, r.key_id, r.sequence, r.route, r.size, r.lane, r.delivery, r.subscription
      from postrider.replayable(v_ids, v_job.filter ->> 'subscription', v_job.catch_up is not null) r
    on conflict do nothing returning id)
  select count(distinct o.id) into v_n from opened o;
  if v_page.done and v_job.catch_up is not null then
    v_page.done := postrider.end_catch_up(v_job.catch_up, 5000);
  end if;
  if v_n > 0 then
    perform postrider.ring_all();
  end if;
  update postrider.replay_job j
     set position = coalesce(v_page.p_position, j.position), sequence = coalesce(v_page.p_sequence, j.sequence),
         ahead = array(select a from unnest(j.ahead || v_ahead) a where a > v_page.p_position),
         matched = j.matched + cardinality(v_ids), requeued = j.requeued + v_n,
         skipped = j.skipped + cardinality(v_ids) - v_n, updated_at = now(),
         state = case when v_page.done then 'done' else j.state end,
         finished_at = case when v_page.done then now() end
   where j.id = p_job returning * into v_job;
  if v_page.done then
    perform postrider.record_act(null, v_job.created_by, 'replay.done',
      jsonb_build_object('job', p_job, 'skipped', v_job.skipped), v_job.requeued);
  end if;
  return v_job;
end $$;
