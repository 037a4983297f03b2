-- A claim that has room for less than this share of its limit is full: another step is not worth its search for the last
-- few. Relays use the same share (Protocol.FULL_SHARE).
create or replace function postrider.full_share() returns int language sql immutable parallel safe return 8;

-- The ranges that hold claimable rows, of at most p_most topics and tenants, in a ring that starts behind the last one
-- served: so whatever a claim had no room for comes first in the next. One index probe for each, whatever its length.
create or replace function postrider.ranges(
  p_routes int[], p_cursor postrider.claim_cursor, p_most int, p_front boolean, p_keyed_first boolean)
returns postrider.place[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_nestloop = on as $$
declare
  v_route  int := coalesce((p_cursor).route, 0);
  v_lane   int := coalesce((p_cursor).lane, -1);
  v_ring   int[] := array(select r from unnest(p_routes) r order by r <= v_route, r);
  v_ranges postrider.place[];
begin
  with ring as (
    select v_route as route, v_lane as after, 2147483647 as until where v_route = any (p_routes)
    union all
    select r, -1, case when r = v_route then v_lane else 2147483647 end from unnest(v_ring) r)
  select array_agg(row(f.route, f.lane, k.keyed, coalesce(p.at, 0))::postrider.place order by f.n, k.n) into v_ranges
    from (
      select r.route, l.lane, row_number() over () as n from ring r cross join lateral (
        with recursive lanes as (
          (select q.lane from postrider.queue q
            where q.route = r.route and q.lane > r.after order by q.lane limit 1)
          union all
          select n.lane from lanes f cross join lateral (
            select q.lane from postrider.queue q
             where q.route = r.route and q.lane > f.lane order by q.lane limit 1) n)
        select f.lane from lanes f where f.lane <= r.until limit p_most) l
       limit p_most) f
   cross join unnest(array[p_keyed_first, not p_keyed_first]) with ordinality k(keyed, n)
   cross join lateral (
     (select from postrider.queue q
       where not k.keyed and q.route = f.route and q.lane = f.lane and q.key_id is null limit 1)
     union all
     (select from postrider.queue q
       where k.keyed and q.route = f.route and q.lane = f.lane and q.key_id is not null limit 1)) any_row
    left join lateral (
      select u.at from unnest((p_cursor).places) u
       where u.keyed = k.keyed and (k.keyed or not p_front) and u.route = f.route and u.lane = f.lane limit 1) p on true;
  return v_ranges;
end $$;

-- The first of the rows that may be taken together; usually all. Else the first of each group, then the second of
-- each, and so on, groups in the order of their ranges: no tenant and no key fills the claim with its large messages.
-- A group is a key, or a range without keys as a negative number. p_keys, p_ranges: the range of each key.
create or replace function postrider.fitting(
  p_tids tid[], p_sizes int[], p_groups bigint[], p_keys bigint[], p_ranges bigint[], p_total bigint, p_limit int,
  p_bytes bigint, p_any boolean)
returns tid[] language plpgsql immutable set search_path = pg_catalog, pg_temp set enable_hashjoin = on as $$
begin
  if p_total <= p_bytes and cardinality(p_tids) <= p_limit then
    return p_tids;
  end if;
  return array(
    select f.tid from (
      select g.tid, row_number() over w as place, sum(g.size) over w as bytes from (
        select u.tid, u.size, u.n, coalesce(k.range, -u.grp) as range,
               row_number() over (partition by u.grp order by u.n) as turn
          from unnest(p_tids, p_sizes, p_groups) with ordinality u(tid, size, grp, n)
          left join (select m.key_id, min(m.range) as range from unnest(p_keys, p_ranges) m(key_id, range)
                      group by m.key_id) k on k.key_id = u.grp) g
      window w as (order by g.turn, g.range, g.n rows unbounded preceding)) f
     where f.place <= p_limit and (f.bytes <= p_bytes or f.place = 1 and p_any));
end $$;

-- Locks the oldest free messages without a key of each range, at most p_share of one.
create or replace function postrider.pick_plain(
  p_places postrider.place[], p_share int,
  out tids tid[], out sizes int[], out groups bigint[], out sequences bigint[], out bytes bigint)
language sql volatile as $$
  select array_agg(f.tid), array_agg(f.size), array_agg(-r.n), array_agg(f.sequence), coalesce(sum(f.size), 0)
    from unnest(p_places) with ordinality r(route, lane, keyed, at, n) cross join lateral (
      select q.ctid as tid, q.size, q.sequence from postrider.queue q
       where q.route = r.route and q.lane = r.lane and q.key_id is null and q.sequence >= r.at and q.lease is null
       order by q.key_id, q.sequence -- key_id is null here, but the planner must be told the index's order
       limit p_share for update skip locked) f
   where not r.keyed
$$;

-- Steps from key to key, p_visits in each range: one index probe for each key, and one for its first message, which may
-- be of another topic. Locks the first messages of those that are free, and reads on to where the key's run ends.
-- Runs are equally long, but together not longer than p_share; what short ones leave goes to the others.
-- free_*: the keys that may go, and their ranges. cut: there were more of them than rows to take. seen: how many keys
-- were visited. taken: of those, how many others have. stuck_*: the keys whose first message waits. ends, last: the
-- ranges that have more keys, and the last one seen there. met: the ranges with keys behind their place.
create or replace function postrider.pick_keyed(
  p_places postrider.place[], p_visits int, p_limit int, p_share int, p_routes int[],
  out tids tid[], out sizes int[], out groups bigint[], out bytes bigint, out keys bigint[], out free_keys bigint[],
  out free_ranges bigint[], out cut boolean, out seen int, out taken int,
  out stuck_keys bigint[], out stuck_seen bigint[], out ends bigint[], out last bigint[], out met bigint[])
language plpgsql volatile as $$
declare
  v_firsts tid[];
  v_starts bigint[];
  v_flying bigint[];
  v_frees  boolean[];
  v_leases bigint[];
  v_free   boolean;
  v_most   int;
  v_cut    int;
begin
  bytes := 0;
  cut := false;
  with recursive walk as (
    select r.n, r.route, r.lane, k.key_id, k.sequence, 1 as step
      from unnest(p_places) with ordinality r(route, lane, keyed, at, n) cross join lateral (
        select q.key_id, q.sequence from postrider.queue q
         where q.route = r.route and q.lane = r.lane and q.key_id > r.at
         order by q.key_id, q.sequence limit 1) k
     where r.keyed
    union all
    select w.n, w.route, w.lane, k.key_id, k.sequence, w.step + 1
      from walk w cross join lateral (
        select q.key_id, q.sequence from postrider.queue q
         where q.route = w.route and q.lane = w.lane and q.key_id > w.key_id
         order by q.key_id, q.sequence limit 1) k
     where w.step < p_visits),
  firsts as (
    select w.n, w.key_id, w.sequence as seen, w.step, f.tid, f.lease,
           f.lease is null and f.lane >= 0 and f.route = any (p_routes) as free
      from walk w cross join lateral (
        select q.ctid as tid, q.lease, q.lane, q.route from postrider.queue q
         where q.key_id = w.key_id order by q.sequence limit 1) f)
  select array_agg(f.tid) filter (where f.free), array_agg(f.key_id) filter (where f.free),
         array_agg(f.n) filter (where f.free), array_agg(f.key_id) filter (where f.lease is null and not f.free),
         array_agg(f.seen) filter (where f.lease is null and not f.free),
         array_agg(f.n) filter (where f.step = p_visits), array_agg(f.key_id) filter (where f.step = p_visits),
         array_agg(f.n) filter (where f.step = 1), count(*), count(f.lease)
    into v_firsts, free_keys, free_ranges, stuck_keys, stuck_seen, ends, last, met, seen, taken from firsts f;
  if v_firsts is null then
    return;
  end if;

  cut := cardinality(v_firsts) > p_limit;
  select array_agg(l.key_id), array_agg(l.sequence) into keys, v_starts from (
    select q.key_id, q.sequence from postrider.queue q
     where q.ctid = any (v_firsts[1:p_limit]) and q.lease is null
       and q.lane + 0 >= 0 -- no condition for an index: the planner is to use the places
       for update skip locked) l;
  taken := taken + least(cardinality(v_firsts), p_limit) - coalesce(cardinality(keys), 0);
  -- The first message is free, but later ones may be in flight: it was put in front of them, or came back before them.
  v_flying := array(select f from postrider.keys_in_flight(keys) f);
  if v_flying <> '{}' then
    select array_agg(k.key_id), array_agg(k.start) into keys, v_starts
      from unnest(keys, v_starts) k(key_id, start) where not k.key_id = any (v_flying);
  end if;
  if keys is null then
    return;
  end if;

  v_most := (p_share - 1) / cardinality(keys) + 1;
  for v_round in 1 .. 2 loop
    select array_agg(r.tid), array_agg(r.size), array_agg(k.key_id), array_agg(r.free), array_agg(r.lease),
           coalesce(sum(r.size), 0), bool_and(r.free), count(*) filter (where r.n = v_most)
      into tids, sizes, groups, v_frees, v_leases, bytes, v_free, v_cut
      from unnest(keys, v_starts) k(key_id, start) cross join lateral (
        select q.ctid as tid, q.size, q.lease, row_number() over (order by q.sequence) as n,
               q.lease is null and q.route = any (p_routes)
                 and (q.lane >= 0 or q.due_at = 'infinity' and not q.blocked) as free
          from postrider.queue q where q.key_id = k.key_id and q.sequence >= k.start
         order by q.sequence limit v_most) r;
    exit when v_cut = 0 or cardinality(tids) > p_share / 2;
    v_most := v_most + (p_share - cardinality(tids)) / v_cut;
  end loop;
  if not v_free then
    -- A run ends before the first message that may not go, and there is none if one is in flight.
    select array_agg(r.tid order by r.n), array_agg(r.size order by r.n), array_agg(r.key_id order by r.n),
           coalesce(sum(r.size), 0)
      into tids, sizes, groups, bytes
      from (select u.*, bool_and(u.free) over (partition by u.key_id order by u.n rows unbounded preceding)
                     and not bool_or(u.lease is not null) over (partition by u.key_id) as goes
              from unnest(tids, sizes, groups, v_frees, v_leases)
                     with ordinality u(tid, size, key_id, free, lease, n)) r
     where r.goes;
  end if;
end $$;

-- Where each range goes on after a pass of a claim, and which of them have more. p_cut: not all that was picked was
-- taken, so ranges go on behind the last key, or the last message without a key, of which something was.
create or replace function postrider.places_after(
  p_places postrider.place[], p_share int, p_groups bigint[], p_sequences bigint[], p_ends bigint[], p_last bigint[],
  p_met bigint[], p_cut boolean, p_taken_routes int[], p_taken_lanes int[], p_taken_keys bigint[],
  p_taken_sequences bigint[], p_round boolean,
  out places postrider.place[], out more postrider.place[])
language sql immutable as $$
  select array_agg(row(r.route, r.lane, r.keyed, r.at)::postrider.place),
         array_agg(row(r.route, r.lane, r.keyed, r.at)::postrider.place) filter (where r.more)
    from (
      select r.route, r.lane, r.keyed,
             case when not r.keyed and p_cut and p.rows > coalesce(s.rows, 0) then coalesce(s.at, r.at)
                  when not r.keyed then coalesce(p.at, r.at)
                  when p_cut and r.n = any (p_met) then coalesce(t.at, r.at)
                  else coalesce(k.at, 0) end as at,
             case when not r.keyed then p.rows >= p_share or p_cut and p.rows > coalesce(s.rows, 0)
                  else p_cut and r.n = any (p_met) or k.at is not null or p_round and r.at > 0 end as more
        from unnest(p_places) with ordinality r(route, lane, keyed, at, n)
        left join unnest(p_ends, p_last) k(n, at) on k.n = r.n
        left join (
          select u.route, u.lane, max(u.key_id) as at
            from unnest(p_taken_routes, p_taken_lanes, p_taken_keys) u(route, lane, key_id)
           where p_cut group by u.route, u.lane) t on t.route = r.route and t.lane = r.lane
        left join (
          select u.route, u.lane, count(*) as rows, max(u.sequence) as at
            from unnest(p_taken_routes, p_taken_lanes, p_taken_keys, p_taken_sequences) u(route, lane, key_id, sequence)
           where p_cut and u.key_id is null group by u.route, u.lane) s on s.route = r.route and s.lane = r.lane
        left join (
          select -g.n as n, count(*) as rows, max(g.at) as at
            from unnest(p_groups, p_sequences) g(n, at) group by g.n) p on p.n = r.n) r
$$;

-- Takes up to p_limit rows and p_bytes of payload and headers under one lease. A first row is taken whatever its size.
--
-- Topics and tenants get equal shares; what one does not need goes to the others. Of a range with keys the claim steps
-- from key to key, from where the last one ended, and takes the next few messages of each: first of an eighth of its
-- share as many keys, then of more if too few could go. So a claim does a bounded amount of work, and a key with a
-- million messages, or one that cannot go, costs one step.
--
-- p_search: look for ranges and for parked rows whose time has come, and go round to the first key again. Else the claim
-- looks only behind its cursor: what lies before may be nothing but dead index entries, which a snapshot that somebody
-- holds keeps from being removed. search_us says how long it took. p_front: start from the oldest messages without a
-- key, not behind the cursor.
-- p_alone: a single suspect instead; `suspects` tells that there are some.
-- more: whether the claim ended before it had seen all there is.
create or replace function postrider.take(
  p_worker int, p_limit int, p_bytes bigint, p_lease_ms bigint, p_routes int[], p_cursor postrider.claim_cursor,
  p_search boolean, p_front boolean, p_reap boolean, p_alone boolean,
  out token bigint, out tids tid[], out ids uuid[], out routes int[], out lanes int[], out attempts smallint[],
  out lost_leases smallint[], out deliveries smallint[], out next postrider.claim_cursor, out search_us bigint,
  out suspects boolean, out more boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- Row counts swing from none to millions within seconds, so statistics are always wrong: plans are fixed
-- to the indexes they were written for.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set enable_nestloop = on -- claim_from() has it off
as $$
#variable_conflict use_column
declare
  c_ranges constant int := 64;
  c_visits constant int := 2000;
  c_stuck  constant int := 32;     -- fewer stuck keys cost less than to hide them
  c_due    constant int := 2000;   -- also for a small claim: due rows may be of topics that nobody serves now
  v_token  bigint := nextval('postrider.lease_token');
  v_left   int := p_limit;
  v_bytes  bigint := p_bytes;
  v_places postrider.place[] := (p_cursor).places;
  v_one    boolean;
  v_found  record;
  v_place  postrider.place;
  v_due    record;
  v_more_due boolean := false;
  v_done   postrider.place[];
  v_after  record;
  v_share  int;
  v_visits int;
  v_keyed_ranges int;
  v_plain  record;
  v_keyed  record;
  v_taken  record;
  v_stuck  record;
  v_keys   bigint[];
  v_suspect tid;
  v_sequences bigint[];
  v_stuck_keys   bigint[] := '{}';
  v_stuck_seen   bigint[] := '{}';
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform postrider.check_isolation();
  end if;
  lock table postrider.claim_lock in row exclusive mode;
  search_us := 0;
  suspects := false;
  more := false;
  next := p_cursor;
  if p_search then
    if p_reap then
      perform postrider.reap() where exists (select from postrider.lease l where l.until < now());
    end if;
    next.due_at := now(); -- whatever is due was looked at
    -- All that a search usually needs to know, in one statement: whether there is anything to claim and, if so, whether it
    -- is all in one range without keys. A claim that goes on behind its cursor does not look at the front of that range,
    -- which may be full of dead index entries.
    v_one := not p_front and cardinality(v_places) = 1 and not (v_places[1]).keyed
      and (v_places[1]).route = any (p_routes);
    if v_one then
      v_place := v_places[1];
      select false as none, not exists (
               select from unnest(p_routes) r cross join lateral (
                 (select from postrider.queue q
                   where r <> v_place.route and q.route = r and q.lane >= 0 limit 1)
                 union all
                 (select from postrider.queue q
                   where r = v_place.route and q.route = r and q.lane >= 0 and q.lane < v_place.lane limit 1)
                 union all
                 (select from postrider.queue q
                   where r = v_place.route and q.route = r and q.lane > v_place.lane limit 1)
                 union all
                 (select from postrider.queue q
                   where r = v_place.route and q.route = r and q.lane = v_place.lane and q.key_id is not null limit 1)
                 ) other) as one,
             exists (select from postrider.queue q where q.due_at < 'infinity' and q.due_at <= now()
                        and q.lost_leases < postrider.suspect_after()) as due,
             exists (select from postrider.queue q
                      where q.route = any (p_routes) and q.lost_leases >= postrider.suspect_after()) as suspects
        into v_found;
    else
      select p_front and count(*) = 0 as none, count(*) = 1 and bool_and(f.plain) as one,
             min(f.route) as route, min(f.lane) as lane,
             exists (select from postrider.queue q where q.due_at < 'infinity' and q.due_at <= now()
                        and q.lost_leases < postrider.suspect_after()) as due,
             exists (select from postrider.queue q
                      where q.route = any (p_routes) and q.lost_leases >= postrider.suspect_after()) as suspects
        into v_found from unnest(p_routes) r cross join lateral (
          -- The first one has a key if any of its tenant has, since null comes last.
          select q.route, q.lane, q.key_id is null and q.lane = (
                   select l.lane from postrider.queue l where l.route = q.route and l.lane >= q.lane
                    order by l.lane desc limit 1) as plain
            from postrider.queue q where q.route = r and q.lane >= 0
           order by q.lane, q.key_id, q.sequence limit 1) f
         where p_front; -- else ranges() looks
    end if;
    if v_found.due then
      select * into v_due from postrider.promote(greatest(2 * p_limit, c_due), '-infinity');
      next.due_at := v_due.p_from;
      v_more_due := v_due.more;
    end if;
    if v_found.suspects then
      suspects := postrider.find_suspect(p_routes) is not null;
    end if;
    if v_found.due or not (v_found.none or v_found.one) then
      v_places := postrider.ranges(p_routes, p_cursor, c_ranges, p_front, hashint8(v_token) % 2 = 0);
    elsif v_found.none then
      v_places := null;
    elsif not v_one then
      v_places := array[row(v_found.route, v_found.lane, false, 0)::postrider.place];
    end if;
    search_us := (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000000)::bigint;
  elsif exists (select from postrider.queue q
                 where q.due_at >= (p_cursor).due_at and q.due_at < 'infinity' and q.due_at <= now()
                   and q.lost_leases < postrider.suspect_after()) then
    select * into v_due from postrider.promote(greatest(2 * p_limit, c_due), (p_cursor).due_at);
    next.due_at := v_due.p_from;
    v_more_due := v_due.more;
  end if;

  if p_alone then
    v_suspect := postrider.find_suspect(p_routes);
    perform from postrider.queue q where q.ctid = v_suspect for update skip locked;
    update postrider.queue q set lease = v_token, due_at = null, pull = true, lane = -1 - q.lane
     where q.ctid = v_suspect and found and q.lease is null and q.due_at <= now()
    returning array[q.ctid], array[q.id], array[q.route], array[q.lane], array[q.attempts], array[q.lost_leases],
              array[q.delivery], array[q.key_id], array[q.sequence]
      into tids, ids, routes, lanes, attempts, lost_leases, deliveries, v_keys, v_sequences;
    v_left := p_limit - coalesce(cardinality(ids), 0);
    v_places := null;
  end if;

  if v_places is null and not p_alone then
    more := v_more_due;
    return;
  end if;
  if cardinality(v_places) = 1 and not (v_places[1]).keyed and p_bytes > 0 then
    -- Messages without a key of one topic and tenant, as most claims find them: all in one statement. For a few messages
    -- a statement costs more to set up than to run, and for many the steps below would pass long arrays on.
    v_place := v_places[1];
    with fit as materialized (
      select case when sum(p.size) <= p_bytes then array_agg(p.tid)
                  else postrider.fitting(array_agg(p.tid), array_agg(p.size), array_fill(-1::bigint, array[count(*)::int]),
                         null, null, sum(p.size), p_limit, p_bytes, true) end as tids,
             count(*) as n, max(p.sequence) as last
        from (select q.ctid as tid, q.size, q.sequence from postrider.queue q
               where q.route = v_place.route and q.lane = v_place.lane and q.key_id is null
                 and q.sequence >= v_place.at and q.lease is null
               order by q.key_id, q.sequence limit p_limit for update skip locked) p),
    taken as (
      update postrider.queue q set lease = v_token where q.ctid = any ((select f.tids from fit f)::tid[])
      returning q.ctid as tid, q.id, q.lane, q.attempts, q.lost_leases, q.delivery, q.sequence),
    sums as materialized (
      select count(*)::int as n, array_agg(t.tid) as tids, array_agg(t.id) as ids, array_agg(t.lane) as lanes,
             array_fill(v_place.route, array[count(*)::int]) as routes,
             array_agg(t.attempts) as attempts, array_agg(t.lost_leases) as lost_leases,
             array_agg(t.delivery) as deliveries, max(t.sequence) as last
        from (select * from taken order by sequence, id) t),
    leased as (
      insert into postrider.lease (token, worker, claimed_at, until, open, ids)
      select v_token, p_worker, now(), now() + p_lease_ms * interval '1 ms', s.n, s.ids from sums s where s.n > 0)
    select case when s.n > 0 then v_token end, s.tids, s.ids, s.routes, s.lanes, s.attempts, s.lost_leases, s.deliveries,
           v_more_due or f.n >= p_limit or f.n > s.n,
           coalesce(case when f.n > s.n then s.last else f.last end, v_place.at)
      into take.token, tids, ids, routes, lanes, attempts, lost_leases, deliveries, more, v_place.at
      from sums s cross join fit f;
    next.places := array[v_place];
    next.route := v_place.route;
    next.lane := v_place.lane;
    return;
  end if;

  for v_pass in 1 .. 4 loop
    exit when v_places is null or v_bytes <= 0 or v_left <= p_limit / postrider.full_share();
    v_share := (v_left - 1) / cardinality(v_places) + 1;
    v_visits := greatest(1, least(coalesce(v_visits, greatest(v_share / 8, 32)), c_visits / cardinality(v_places)));
    select * into v_plain from postrider.pick_plain(v_places, v_share);
    v_keyed_ranges := (select count(*) from unnest(v_places) p where p.keyed);
    select * into v_keyed from postrider.pick_keyed(
      v_places, v_visits, v_left, least(v_share * v_keyed_ranges, v_left), p_routes) where v_keyed_ranges > 0;

    with taken as (
      -- All at once: a join on ctid sets a scan up for each row, which costs more than the update. A row that was
      -- hidden behind the first one of its key is shown again, and remembers that others may be hidden.
      update postrider.queue q
         set lease = v_token, due_at = null, pull = q.pull or q.lane < 0,
             lane = case when q.lane < 0 then -1 - q.lane else q.lane end
       where q.ctid = any (postrider.fitting(v_plain.tids || v_keyed.tids, v_plain.sizes || v_keyed.sizes,
               v_plain.groups || v_keyed.groups, v_keyed.free_keys, v_keyed.free_ranges,
               v_plain.bytes + coalesce(v_keyed.bytes, 0), v_left, v_bytes, v_left = p_limit))
      returning q.ctid as tid, q.id, q.route, q.lane, q.attempts, q.lost_leases, q.delivery, q.size, q.key_id,
                q.sequence)
    select count(*) as n, coalesce(sum(t.size), 0) as bytes, array_agg(t.tid) as tids, array_agg(t.id) as ids,
           array_agg(t.lane) as lanes, array_agg(t.attempts) as attempts, array_agg(t.lost_leases) as lost_leases,
           array_agg(t.delivery) as deliveries, array_agg(t.route) as routes, array_agg(t.key_id) as keys,
           array_agg(t.sequence) as sequences
      into v_taken from (select * from taken order by key_id nulls first, sequence) t;
    if cardinality(v_keyed.ends) > 0 and v_taken.n < v_left / 2 and v_keyed.taken < v_keyed.seen / 2 then
      v_visits := 4 * v_visits; -- their runs are short, or they are stuck
    end if;
    v_left := v_left - v_taken.n;
    v_bytes := v_bytes - v_taken.bytes;
    tids := tids || v_taken.tids;
    ids := ids || v_taken.ids;
    routes := routes || v_taken.routes;
    lanes := lanes || v_taken.lanes;
    attempts := attempts || v_taken.attempts;
    lost_leases := lost_leases || v_taken.lost_leases;
    deliveries := deliveries || v_taken.deliveries;
    if v_keyed.keys is not null then
      v_keys := v_keys || v_taken.keys;
      v_sequences := v_sequences || v_taken.sequences;
    end if;
    v_stuck_keys := v_stuck_keys || v_keyed.stuck_keys;
    v_stuck_seen := v_stuck_seen || v_keyed.stuck_seen;

    select * into v_after from postrider.places_after(
      v_places, v_share, v_plain.groups, v_plain.sequences, v_keyed.ends, v_keyed.last, v_keyed.met,
      coalesce(v_keyed.cut, false) or v_taken.n < coalesce(cardinality(v_plain.tids), 0) + coalesce(cardinality(v_keyed.tids), 0),
      v_taken.routes, v_taken.lanes, v_taken.keys, v_taken.sequences, p_search);
    if cardinality(v_places) = 1 and v_pass = 1 then
      next.route := (v_places[1]).route;
      next.lane := (v_places[1]).lane;
    elsif v_pass = 1 then
      -- The last range of which something was taken, or of those that were seen if nothing was.
      select r.route, r.lane into next.route, next.lane
        from unnest(v_places) with ordinality r(route, lane, keyed, at, n)
       order by exists (select from unnest(v_taken.routes, v_taken.lanes) t(route, lane)
                         where t.route = r.route and t.lane = r.lane) desc, r.n desc limit 1;
    end if;
    v_done := v_after.places || v_done;
    v_places := v_after.more;
  end loop;
  more := v_places is not null or v_more_due or p_search and (
    select count(*) from (select from unnest(v_done) d group by d.route, d.lane) r) >= c_ranges;
  if v_done is not null then
    -- A range that several passes looked at stands at the front with its last place.
    next.places := case when cardinality(v_done) = cardinality(v_after.places) then v_done else array(
      select row(d.route, d.lane, d.keyed, (array_agg(d.at order by d.n))[1])::postrider.place
        from unnest(v_done) with ordinality d(route, lane, keyed, at, n)
       group by d.route, d.lane, d.keyed order by min(d.n)) end;
  end if;

  if cardinality(v_stuck_keys) >= c_stuck then
    select array_agg(s.key_id) as keys, array_agg(s.seen) as seen into v_stuck
      from (select u.key_id, min(u.seen) as seen from unnest(v_stuck_keys, v_stuck_seen) u(key_id, seen)
             group by u.key_id limit 1000) s;
    perform postrider.hide_followers(v_stuck.keys, v_stuck.seen, p_routes);
  end if;

  if v_left < p_limit then
    token := v_token;
    insert into postrider.lease (token, worker, claimed_at, until, open, ids, keys, lasts)
    select v_token, p_worker, now(), now() + p_lease_ms * interval '1 ms', cardinality(take.ids), take.ids,
           array_agg(k.key_id), array_agg(k.last)
      from (select u.key_id, max(u.sequence) as last from unnest(v_keys, v_sequences) u(key_id, sequence)
             where u.key_id is not null group by u.key_id) k;
  end if;
end $$;

-- Reads what a claim took, in the order of the queue, which is a key's order; each with where its row lies (tid), for
-- settle() to find it by. One scan for all ids and a hash for what the queue knows of them: a probe for each would cost
-- three times as much. The bounds are variables, so that the server leaves out the other partitions before it opens
-- them. The last row has no message, only the cursor for the next claim.
create or replace function postrider.claim_from(
  p_worker int, p_limit int, p_bytes bigint, p_lease_ms bigint, p_routes int[],
  p_cursor postrider.claim_cursor default null, p_search boolean default true, p_front boolean default true,
  p_reap boolean default true, p_alone boolean default false)
returns table (
  id uuid, token bigint, lane int, attempt smallint, delivery smallint, key_id bigint,
  sequence bigint, route int, created_at timestamptz, tenant text, aggregate_type text,
  aggregate_id text, event_type text, ordering_key text, dedupe_key text, content_type text,
  is_json boolean, headers jsonb, payload bytea, claimed_at timestamptz, tid tid, lost_leases smallint,
  cursor postrider.claim_cursor, search_us bigint, suspects boolean, more boolean)
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
  v_taken := postrider.take(
    p_worker, p_limit, p_bytes, p_lease_ms, p_routes, p_cursor, p_search, p_front, p_reap, p_alone);
  if v_taken.token is not null then
    v_sorted := array(select u from unnest(v_taken.ids) u order by u);
    v_first := v_sorted[1];
    v_last := v_sorted[cardinality(v_sorted)];
    return query
      select m.id, v_taken.token, t.lane, (least(t.attempts, 32766) + 1)::smallint, t.delivery, m.key_id, m.sequence, t.route,
             m.created_at, m.tenant, m.aggregate_type, m.aggregate_id, m.event_type, m.ordering_key, m.dedupe_key,
             m.content_type, m.is_json, m.headers, m.payload, now(), t.tid, t.lost_leases,
             null::postrider.claim_cursor, null::bigint, null::boolean, null::boolean
        from unnest(v_taken.tids, v_taken.ids, v_taken.routes, v_taken.lanes, v_taken.attempts, v_taken.lost_leases,
               v_taken.deliveries) with ordinality as t(tid, id, route, lane, attempts, lost_leases, delivery, place)
        join postrider.message m on m.id = t.id
       where m.id = any (v_sorted) and m.id between v_first and v_last
       order by t.place;
  end if;
  cursor := v_taken.next;
  search_us := v_taken.search_us;
  suspects := v_taken.suspects;
  more := v_taken.more;
  return next;
end $$;

-- The same from the first key on, for those who keep no cursor. If there is nothing else, a suspect.
create or replace function postrider.claim(
  p_worker int, p_limit int, p_bytes bigint, p_lease_ms bigint, p_routes int[])
returns table (
  id uuid, token bigint, lane int, attempt smallint, delivery smallint, key_id bigint,
  sequence bigint, route int, created_at timestamptz, tenant text, aggregate_type text,
  aggregate_id text, event_type text, ordering_key text, dedupe_key text, content_type text,
  is_json boolean, headers jsonb, payload bytea, claimed_at timestamptz, tid tid, lost_leases smallint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_alone boolean;
begin
  foreach v_alone in array array[false, true] loop
    return query
      select c.id, c.token, c.lane, c.attempt, c.delivery, c.key_id, c.sequence, c.route, c.created_at, c.tenant,
             c.aggregate_type, c.aggregate_id, c.event_type, c.ordering_key, c.dedupe_key, c.content_type, c.is_json,
             c.headers, c.payload, c.claimed_at, c.tid, c.lost_leases
        from postrider.claim_from(p_worker, p_limit, p_bytes, p_lease_ms, p_routes, p_alone => v_alone) c
       where c.id is not null;
    exit when found;
  end loop;
end $$;
