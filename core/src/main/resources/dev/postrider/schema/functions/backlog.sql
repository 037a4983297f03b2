-- The backlog of each topic, for gauges that are read every few seconds, whatever the size of the queue. Up to p_exact
-- rows in total are counted. Beyond that each topic is counted up to 1,000 rows, and the rest, by the statistics of
-- the table, is divided among the topics that have more. No table is read as a whole. If there are too many dead
-- letters, their number is the row count of the index dead_letter_open, as vacuum keeps it.

-- The topics with rows in the queue, by one index probe for each topic. ready: some of the rows can be claimed. Topics
-- whose rows are all delayed or blocked are not ready.
create or replace function postrider.queued_routes() returns table (route int, ready boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
  with recursive found as (
    (select q.route, q.lane from postrider.queue q order by q.route desc, q.lane desc limit 1)
    union all
    select n.route, n.lane from found f cross join lateral (
      select q.route, q.lane from postrider.queue q where q.route < f.route
       order by q.route desc, q.lane desc limit 1) n)
  select f.route, f.lane >= 0 or exists (
           select from postrider.queue q
            where q.route = f.route and q.lost_leases >= postrider.suspect_after() and q.due_at <= now())
    from found f
$$;

-- The time since when the oldest message of a topic waits. These do not count: leased rows, dead messages that block
-- their key, messages scheduled for later, and redeliveries. A scheduled message waits from its scheduled time. Looks
-- at the oldest messages of 64 tenants, the first messages of 500 keys, and 1,000 parked messages.
create or replace function postrider.waiting_since(p_route int) returns timestamptz
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off as $$
  with recursive lanes as (
    (select q.lane, 1 as n from postrider.queue q where q.route = p_route and q.lane >= 0 order by q.lane limit 1)
    union all
    select n.lane, l.n + 1 from lanes l cross join lateral (
      select q.lane from postrider.queue q where q.route = p_route and q.lane > l.lane order by q.lane limit 1) n
     where l.n < 64),
  keys as (
    select l.lane, k.key_id, 1 as n from lanes l cross join lateral (
      select q.key_id from postrider.queue q
       where q.route = p_route and q.lane = l.lane and q.key_id > 0 order by q.key_id limit 1) k
    union all
    select k.lane, n.key_id, k.n + 1 from keys k cross join lateral (
      select q.key_id from postrider.queue q
       where q.route = p_route and q.lane = k.lane and q.key_id > k.key_id order by q.key_id limit 1) n
     where k.n < 500),
  seen as (
    select q.id, q.due_at, q.attempts from lanes l cross join lateral (
      select q.id, q.due_at, q.attempts from postrider.queue q
       where q.route = p_route and q.lane = l.lane and q.key_id is null and q.lease is null and q.delivery = 1
       order by q.key_id, q.sequence limit 5) q
    union all
    (select q.id, q.due_at, q.attempts from keys k cross join lateral (
      select q.id, q.due_at, q.attempts, q.lease, q.delivery from postrider.queue q
       where q.route = p_route and q.lane = k.lane and q.key_id = k.key_id order by q.sequence limit 1) q
     where q.lease is null and q.delivery = 1 limit 500)
    union all
    (select q.id, q.due_at, q.attempts from postrider.queue q
      where q.route = p_route and q.lane < 0 and q.lease is null and q.delivery = 1 and not q.blocked limit 1000)),
  oldest as (
    select s.id from seen s
     where s.due_at is null or s.due_at = 'infinity' or s.due_at <= now() or s.attempts > 0
     order by s.id limit 5)
  select min(greatest(m.created_at, m.not_before)) from oldest o join postrider.message m on m.id = o.id
$$;

create or replace function postrider.backlog(p_exact int default 10000)
returns table (
  namespace text, topic text, pending bigint, estimated boolean, oldest_age_seconds double precision,
  dead bigint, dead_estimated boolean, subscription text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_routes int[];
  v_counts bigint[];
  v_many   boolean;
  v_cap    int := least(1000, p_exact);
  v_rest   bigint := 0;
begin
  select array_agg(c.route), array_agg(c.n), coalesce(sum(c.n), 0) > p_exact
    into v_routes, v_counts, v_many
    from (select s.route, count(*) as n from (
            select q.route from postrider.queue q where q.lease is null and not q.blocked
             order by q.route limit p_exact + 1) s group by s.route) c;
  if v_many then
    -- The live count is lost in a crash, until the next analyze.
    select greatest(p_exact + 1, pg_stat_get_live_tuples(c.oid),
             case when pg_stat_get_live_tuples(c.oid) = 0 then c.reltuples end)
           - (select coalesce(sum(l.open), 0) from postrider.lease l)
           - (select count(*) from (select from postrider.dead_letter d
                where d.blocking and d.resolved_at is null limit 10000) b)
      into v_rest from pg_class c where c.oid = 'postrider.queue'::regclass;
  end if;
  return query
  with waiting as materialized (
    select r.route, postrider.waiting_since(r.route) as since from postrider.queued_routes() r),
  -- Joined by grouping: with thousands of topics a nested loop would compare each topic with each.
  short as materialized (
    select u.route, min(u.since) as since, coalesce(sum(u.n), 0)::bigint as n from (
      select w.route, w.since, null::bigint as n from waiting w
      union all
      select c.route, null, c.n from unnest(v_routes, v_counts) c(route, n) where not v_many) u
     group by u.route),
  counted as materialized (
    select s.route, s.since, n.n, v_many and n.n >= v_cap as more from short s cross join lateral (
      select case
        when v_many then (select count(*) from (
          select from postrider.queue q
           where q.route = s.route and q.lease is null and not q.blocked limit v_cap) c)
        else s.n end as n) n),
  frequency as materialized (
    select f.route, f.share from pg_stats s
     cross join lateral unnest(s.most_common_vals::text::int[], s.most_common_freqs) f(route, share)
     where v_many and s.schemaname = 'postrider' and s.tablename = 'queue' and s.attname = 'route'),
  weighed as materialized (
    select c.*, case when c.more then coalesce(f.share, 0.0001) else 0 end as weight
      from counted c left join frequency f on f.route = c.route),
  guessed as materialized (
    -- A message that is not fanned out yet waits for the default subscription, too.
    select abs(u.route) as route, min(u.since) as since, bool_or(u.more) as more, sum(u.n) as n from (
    select w.route, w.since, w.more, case when w.more then greatest(w.n, round(
        (v_rest - coalesce(sum(w.n) filter (where not w.more) over (), 0))
          * w.weight / sum(w.weight) over ())::bigint)
      else w.n end as n from weighed w) u group by abs(u.route)),
  died as materialized (
    select d.route, count(*) as n from (
      select d.route from postrider.dead_letter d where d.resolved_at is null limit p_exact + 1) d
     group by d.route),
  scale as materialized (
    select case when coalesce(sum(d.n), 0) <= p_exact then 1
                else greatest(1, c.reltuples / sum(d.n)) end as factor,
           coalesce(sum(d.n), 0) > p_exact as guessed
      from pg_class c left join died d on true
     where c.oid = 'postrider.dead_letter_open'::regclass group by c.reltuples)
  select r.namespace, r.topic, t.n, t.more,
         coalesce(extract(epoch from greatest(now() - t.since, interval '0')), 0)::double precision,
         coalesce(round(t.dead * s.factor), 0)::bigint, s.guessed, r.subscription
    from scale s
   cross join (
     select u.route, coalesce(max(u.n), 0)::bigint as n, coalesce(bool_or(u.more), false) as more,
            min(u.since) as since, max(u.dead) as dead
       from (select g.route, g.n, g.more, g.since, null::bigint as dead from guessed g
             union all
             select d.route, null, null, null, d.n from died d) u
      group by u.route) t
    join postrider.route r on r.id = t.route;
end $$;

-- The messages that relays hold, and those of them whose lease has expired. What it reads is small: one row per
-- running claim, and a partial index of the dead messages that block a key. Blocked keys are counted up to 10,000;
-- blocked_keys_at_least says whether there are more.
create or replace function postrider.dispatching(
  out processing bigint, out stuck bigint, out blocked_keys bigint, out blocked_keys_at_least boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
  select coalesce(sum(l.open), 0), coalesce(sum(l.open) filter (where l.until < now()), 0),
         least(max(b.n), 10000), max(b.n) > 10000
    from (select count(*) as n from (select from postrider.dead_letter d
            where d.blocking and d.resolved_at is null limit 10001) s) b
    left join postrider.lease l on true
$$;
