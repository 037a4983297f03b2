create function postrider.worker_id(name text) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_id int;
begin
  insert into postrider.worker as w (name) values (worker_id.name)
  on conflict (name) do update set seen_at = now(), stopped_at = null
  returning w.id into v_id;
  return v_id;
end $$;

-- Gives the rows of lapsed leases back, each with a ZOMBIE_REQUEUE attempt. Whoever finds a lease locked
-- leaves it to the one who holds it; a second run finds nothing. Returns the number of rows.
create function postrider.reap() returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_lease record;
  v_n     int;
  v_total int := 0;
begin
  for v_lease in
    select * from postrider.lease l where l.until < now() order by l.token limit 100 for update skip locked
  loop
    with freed as (
      update postrider.queue q set lease = null
        from unnest(v_lease.ids) i(id) join postrider.message m on m.id = i.id
       where q.route = m.route and q.lane = postrider.lane_of(m.key_id) and q.id = m.id
         and q.lease = v_lease.token
      returning q.id, q.attempts, q.delivery)
    insert into postrider.attempt (message_id, claimed_at, finished_at, worker, no, delivery, state, code)
    select f.id, v_lease.claimed_at, now(), v_lease.worker, f.attempts, f.delivery, 4, 'lease_expired'
      from freed f;
    get diagnostics v_n = row_count;
    v_total := v_total + v_n;
    delete from postrider.lease l where l.token = v_lease.token;
  end loop;
  return v_total;
end $$;

-- Makes parked rows whose time has come claimable.
create function postrider.promote(p_limit int) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
begin
  update postrider.queue q set lane = -1 - q.lane, due_at = null
   where q.ctid = any (array(
     select p.ctid from postrider.queue p
      where p.lane < 0 and p.due_at < 'infinity' and p.due_at <= now()
      order by p.due_at limit p_limit for update skip locked));
end $$;

create function postrider.just_taken(p_lease bigint) returns boolean
language sql stable
return exists (
  select from postrider.lease l where l.token = p_lease and l.claimed_at > now() - interval '1 s');

-- The (route, lane) ranges that hold claimable rows: a loose index scan, one probe per range whatever its
-- length. Those with the oldest row first, but last those whose oldest row was just taken: with it are most
-- heads of a lane, and to find that out costs as much as a claim. One that is long in flight is a slow message,
-- for which the other keys of its lane must not wait.
create function postrider.ranges(p_routes int[]) returns table (route int, lane smallint, first_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off as $$
  with recursive found as (
    select r.route, n.lane, n.id, n.lease from unnest(p_routes) r(route) cross join lateral (
      select q.lane, q.id, q.lease from postrider.queue q
       where q.route = r.route and q.lane >= 0 order by q.lane, q.id limit 1) n
    union all
    select f.route, n.lane, n.id, n.lease from found f cross join lateral (
      select q.lane, q.id, q.lease from postrider.queue q
       where q.route = f.route and q.lane > f.lane order by q.lane, q.id limit 1) n)
  select f.route, f.lane, f.id from found f order by f.lane > 0 and postrider.just_taken(f.lease), f.id
$$;

-- The first of the rows that may be taken together; usually all.
create function postrider.fitting(
  p_tids tid[], p_sizes int[], p_total bigint, p_limit int, p_bytes bigint, p_any boolean)
returns tid[] language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_total <= p_bytes and cardinality(p_tids) <= p_limit then
    return p_tids;
  end if;
  return array(
    select f.tid from (
      select u.tid, u.place, sum(u.size) over (order by u.place) as bytes
        from unnest(p_tids, p_sizes) with ordinality u(tid, size, place)) f
     where f.place <= p_limit and (f.bytes <= p_bytes or f.place = 1 and p_any)
     order by f.place);
end $$;

-- Takes up to p_limit rows and p_bytes of payload under one lease. A first row is taken whatever
-- its size. With p_after (and the range it was seen in) the claim goes on from there instead of searching
-- from the front: from that id on, or, in a range of keys, in the next lane that was not just taken. What lies before
-- was just looked at, and may be nothing but dead index entries that a long snapshot keeps from being removed.
create function postrider.take(
  p_worker int, p_limit int, p_bytes bigint, p_lease_ms bigint, p_routes int[],
  p_after_route int, p_after_lane smallint, p_after uuid, p_reap boolean,
  out token bigint, out tids tid[], out ids uuid[], out lanes smallint[], out attempts smallint[],
  out deliveries smallint[])
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- Row counts swing from none to millions within seconds, so statistics are always wrong: plans are fixed
-- to the indexes they were written for.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set enable_nestloop = on -- claim() has it off
as $$
#variable_conflict use_column
declare
  v_token      bigint := nextval('postrider.lease_token');
  v_window     int := p_limit;
  v_range      record;
  v_free       record;
  v_tids       tid[];
  v_taken      record;
  v_left       int := p_limit;
  v_bytes      bigint := p_bytes;
begin
  if p_after is null then
    if p_reap and exists (select from postrider.lease l where l.until < now()) then
      perform postrider.reap();
    end if;
    if exists (select from postrider.queue q
                where q.lane < 0 and q.due_at < 'infinity' and q.due_at <= now()) then
      perform postrider.promote(2 * p_limit);
    end if;
  end if;

  for v_range in
    select r.route, r.lane, r.first_id from postrider.ranges(p_routes) r where p_after is null
    union all
    select p_after_route, p_after_lane, p_after where p_after_lane = 0 and p_after_route = any (p_routes)
    union all
    (select p_after_route, l.id, null from postrider.lane l
      where p_after_lane > 0 and p_after_route = any (p_routes)
      order by l.id <= p_after_lane, l.id)
  loop
    -- Nearly full is full: another range is not worth its search for the last few.
    exit when v_left <= p_limit / 8 or v_bytes <= 0;
    if v_range.lane = 0 then
      select array_agg(f.tid) as tids, array_agg(f.size) as sizes, sum(f.size) as bytes into v_free
        from (select q.ctid as tid, q.size from postrider.queue q
               where q.route = v_range.route and q.lane = 0 and q.id >= v_range.first_id and q.lease is null
               order by q.id limit v_left for update skip locked) f;
      v_tids := postrider.fitting(v_free.tids, v_free.sizes, v_free.bytes, v_left, v_bytes,
        v_left = p_limit);
      with taken as (
        -- All at once: a join on ctid sets a scan up for each row, which costs more than the update.
        update postrider.queue q set lease = v_token, attempts = least(q.attempts, 32766) + 1
         where q.ctid = any (v_tids)
        returning q.ctid as tid, q.id, q.lane, q.attempts, q.delivery, q.size)
      select count(*) as n, sum(t.size) as bytes, array_agg(t.tid) as tids, array_agg(t.id) as ids,
             array_agg(t.lane) as lanes, array_agg(t.attempts) as attempts,
             array_agg(t.delivery) as deliveries
        into v_taken from (select * from taken order by id) t;
    else
      if v_range.first_id is null then
        select q.id as first_id, q.lease, v_range.route, v_range.lane into v_range from postrider.queue q
         where q.route = v_range.route and q.lane = v_range.lane order by q.id limit 1;
        continue when not found or postrider.just_taken(v_range.lease); -- See ranges().
      end if;
      -- Only one claim at a time reads a lane, so nobody else can take what lies between head and tail.
      perform from postrider.lane l where l.id = v_range.lane for update skip locked;
      continue when not found;
      -- Rows that cannot go may fill the window many times over; they are parked until it shows others.
      for v_round in 1 .. 20 loop
        -- One probe per key, not per row: a key's run starts at its head, wherever in the log that is, and
        -- ends before the first row that may not go now.
        with seen as materialized (
          select q.key_id, q.id from postrider.queue q
           where q.route = v_range.route and q.lane = v_range.lane and q.id >= v_range.first_id and q.lease is null
           order by q.id limit v_window),
        keys as materialized (
          select s.key_id, greatest((v_left - 1) / count(*) over () + 1, 8) as most
            from seen s group by s.key_id order by (array_agg(s.id))[1])
        select array_agg(r.tid) as tids, array_agg(r.size) as sizes, array_agg(k.key_id) as keys,
               array_agg(r.lease) as leases, array_agg(r.away) as aways, sum(r.size) as bytes,
               bool_and(r.lease is null and not r.away) as free, false as stuck,
               (select count(*) from seen) as seen
          into v_free
          from keys k cross join lateral (
            select q.ctid as tid, q.size, q.lease, q.lane < 0 or not q.route = any (p_routes) as away
              from postrider.queue q
             where q.key_id = k.key_id order by q.sequence limit k.most) r;
        if not v_free.free then
          select array_agg(r.tid order by r.n) filter (where r.free) as tids,
                 array_agg(r.size order by r.n) filter (where r.free) as sizes,
                 sum(r.size) filter (where r.free) as bytes,
                 bool_or(r.place = 1 and (r.away or l.claimed_at < now() - interval '1 s')) as stuck,
                 v_free.seen
            into v_free
            from (select u.*, bool_and(u.lease is null and not u.away) over w as free,
                         row_number() over w as place
                    from unnest(v_free.tids, v_free.sizes, v_free.keys, v_free.leases, v_free.aways)
                           with ordinality u(tid, size, key_id, lease, away, n)
                  window w as (partition by u.key_id order by u.n rows unbounded preceding)) r
            left join postrider.lease l on l.token = r.lease and r.place = 1;
        end if;
        v_tids := postrider.fitting(v_free.tids, v_free.sizes, v_free.bytes, v_left, v_bytes,
          v_left = p_limit);
        with taken as (
          update postrider.queue q set lease = v_token, attempts = least(q.attempts, 32766) + 1
           where q.ctid = any (v_tids)
          returning q.ctid as tid, q.id, q.lane, q.attempts, q.delivery, q.size, q.key_id, q.sequence)
        select count(*) as n, sum(t.size) as bytes, array_agg(t.tid) as tids, array_agg(t.id) as ids,
               array_agg(t.lane) as lanes, array_agg(t.attempts) as attempts,
               array_agg(t.delivery) as deliveries
          into v_taken from (select * from taken order by key_id, sequence) t;
        if v_taken.n <> cardinality(v_tids) then
          -- Nobody moves a row of a lane that we hold. Should it happen, a key would go on with a hole.
          raise exception using errcode = 'serialization_failure',
            message = format('only %s of %s rows of a lane were where they had been seen', v_taken.n,
              cardinality(v_tids));
        end if;
        exit when v_free.seen < v_window or v_taken.n >= v_left / 4 or not v_free.stuck;
        exit when postrider.park_followers(v_range.route, v_range.lane, 5 * v_window, p_routes) = 0
               or v_taken.n > 0;
      end loop;
    end if;
    if v_taken.n > 0 then
      v_left := v_left - v_taken.n;
      v_bytes := v_bytes - v_taken.bytes;
      tids := tids || v_taken.tids;
      ids := ids || v_taken.ids;
      lanes := lanes || v_taken.lanes;
      attempts := attempts || v_taken.attempts;
      deliveries := deliveries || v_taken.deliveries;
    end if;
  end loop;

  if v_left < p_limit then
    token := v_token;
    insert into postrider.lease (token, worker, claimed_at, until, open, ids)
    values (v_token, p_worker, now(), now() + p_lease_ms * interval '1 ms', cardinality(take.ids), take.ids);
  end if;
end $$;

-- Takes messages and returns them in the order of the queue, which is a key's order, each with where its row
-- lies (tid), for settle() to find it by. One scan for all ids and
-- a hash for what the queue knows of them: a probe for each would cost three times as much. The bounds are
-- variables, so that the server leaves out the other partitions before it opens them.
create function postrider.claim(
  p_worker int, p_limit int, p_bytes bigint, p_lease_ms bigint, p_routes int[],
  p_after_route int default null, p_after_lane smallint default null, p_after uuid default null,
  p_reap boolean default true)
returns table (
  id uuid, token bigint, lane smallint, attempt smallint, delivery smallint, key_id bigint,
  sequence bigint, route int, created_at timestamptz, tenant text, aggregate_type text,
  aggregate_id text, event_type text, ordering_key text, dedupe_key text, content_type text,
  headers jsonb, payload bytea, claimed_at timestamptz, tid tid)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_taken  record;
  v_sorted uuid[];
  v_first  uuid;
  v_last   uuid;
begin
  select * into v_taken from postrider.take(
    p_worker, p_limit, p_bytes, p_lease_ms, p_routes, p_after_route, p_after_lane, p_after, p_reap);
  if v_taken.token is null then
    return;
  end if;
  v_sorted := array(select u from unnest(v_taken.ids) u order by u);
  v_first := v_sorted[1];
  v_last := v_sorted[cardinality(v_sorted)];
  return query
    select m.id, v_taken.token, t.lane, t.attempts, t.delivery, m.key_id, m.sequence, m.route, m.created_at,
           m.tenant, m.aggregate_type, m.aggregate_id, m.event_type, m.ordering_key, m.dedupe_key,
           m.content_type, m.headers, m.payload, now(), t.tid
      from unnest(v_taken.tids, v_taken.ids, v_taken.lanes, v_taken.attempts, v_taken.deliveries)
             with ordinality as t(tid, id, lane, attempts, delivery, place)
      join postrider.message m on m.id = t.id
     where m.id = any (v_sorted) and m.id between v_first and v_last
     order by t.place;
end $$;

-- A claim met a full window of rows most of which cannot go, because their key's head is parked, blocked,
-- of a paused topic, or long in flight. Parks them until their head leaves, so that no later claim walks
-- over them again; returns how many. The head is marked first: if it has just left, nothing is parked. Heads that somebody
-- is settling are passed over: to wait for several of them while settle() waits for several of ours would
-- be a deadlock. The caller holds the lane.
create function postrider.park_followers(p_route int, p_lane smallint, p_window int, p_routes int[])
returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_keys  bigint[];
  v_heads bigint[];
  v_n     int;
begin
  with keys as materialized (
    select distinct s.key_id from (
      select q.key_id from postrider.queue q
       where q.route = p_route and q.lane = p_lane and q.lease is null
       order by q.id limit p_window) s),
  heads as materialized (
    select q.ctid as tid, q.key_id, q.sequence, q.pull from keys k cross join lateral (
      select q.route, q.lane, q.id, q.lease from postrider.queue q
       where q.key_id = k.key_id order by q.sequence limit 1) h
      join postrider.queue q on q.route = h.route and q.lane = h.lane and q.id = h.id
      left join postrider.lease l on l.token = h.lease
     where h.lane < 0 or not h.route = any (p_routes) or l.claimed_at < now() - interval '1 s'
       for update of q skip locked),
  marked as (
    update postrider.queue q set pull = true from heads h where q.ctid = h.tid and not h.pull
    returning q.key_id, q.sequence),
  waiting as (
    select m.key_id, m.sequence from marked m
    union all
    select h.key_id, h.sequence from heads h where h.pull)
  select array_agg(w.key_id), array_agg(w.sequence) into v_keys, v_heads from waiting w;
  if v_keys is null then
    return 0;
  end if;
  -- Only what comes behind the marked head: a message requeued in front of it since must go first.
  update postrider.queue q set lane = -1 - q.lane, due_at = 'infinity'
   where q.ctid = any (array(
     select s.tid from (
       select f.ctid as tid, f.key_id, f.sequence from postrider.queue f
        where f.route = p_route and f.lane = p_lane and f.lease is null
        order by f.id limit p_window) s
       join unnest(v_keys, v_heads) as h(key_id, sequence)
         on h.key_id = s.key_id and h.sequence < s.sequence));
  get diagnostics v_n = row_count;
  return v_n;
end $$;

-- Gives the next few parked followers of these keys back to their lanes; the last one carries the mark on.
-- Found by key and sequence only: with "lane < 0" in the query the planner would walk over the whole
-- primary key when it believes that few rows are parked. Keys in order, so that two settlements never wait
-- for each other in a circle.
create function postrider.pull_followers(p_keys bigint[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_key  bigint;
  v_last bigint;
begin
  for v_key in select distinct k from unnest(p_keys) k order by k loop
    with next as materialized (
      select q.ctid as tid, q.sequence from postrider.queue q
       where q.key_id = v_key and q.due_at = 'infinity' and not q.blocked
       order by q.sequence limit 500 for update),
    pulled as (
      update postrider.queue q set lane = -1 - q.lane, due_at = null
       where q.ctid = any (array(select n.tid from next n))
      returning q.sequence)
    select max(p.sequence) into v_last from pulled p;
    if exists (select from postrider.queue q
                where q.key_id = v_key and q.due_at = 'infinity' and not q.blocked) then
      update postrider.queue q set pull = true where q.key_id = v_key and q.sequence = v_last;
    end if;
  end loop;
end $$;
