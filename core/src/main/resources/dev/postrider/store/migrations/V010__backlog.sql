-- What waits, per topic, for gauges that are read every few seconds whatever the size of the queue.
-- Up to p_exact rows in all are counted; beyond that each topic is counted up to 1,000 rows, and what the
-- statistics say is left is shared out among the topics that have more. Nothing here reads a table from
-- end to end. dead_letter_open's own row count, kept by vacuum, serves when there are too many dead.

-- The (route, lane) ranges of the whole queue, parked ones included: one probe per range. Others start
-- from first_id: while somebody holds an old snapshot, walking over what lies before it is the dear part.
create function postrider.all_ranges() returns table (route int, lane smallint, first_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
  with recursive found as (
    (select q.route, q.lane, q.id from postrider.queue q order by q.route, q.lane, q.id limit 1)
    union all
    select n.route, n.lane, n.id from found f cross join lateral (
      select q.route, q.lane, q.id from postrider.queue q
       where (q.route, q.lane) > (f.route, f.lane) order by q.route, q.lane, q.id limit 1) n)
  select f.route, f.lane, f.id from found f
$$;

-- The time since which the oldest message of a range has been waiting. Not counted as waiting: rows under
-- a lease, dead heads, what is scheduled for later, and redeliveries, whose age says nothing. A scheduled
-- message waits from its time on, not from its making, so the first few are compared. No range is looked
-- into for more than 2,000 rows.
create function postrider.waiting_since(p_route int, p_lane smallint, p_first uuid)
returns timestamptz
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off as $$
  select min(w.since) from (
    select greatest(m.created_at, m.not_before) as since
      from (select * from postrider.queue q
             where q.route = p_route and q.lane = p_lane and q.id >= p_first order by q.id limit 2000) q
      join postrider.message m on m.id = q.id
     where q.lease is null and not q.blocked and q.delivery = 1
       and (q.due_at is null or q.due_at = 'infinity' or q.due_at <= now() or q.attempts > 0)
     limit 5) w
$$;

create function postrider.backlog(p_exact int default 10000)
returns table (
  namespace text, topic text, pending bigint, estimated boolean, oldest_age_seconds double precision,
  dead bigint, dead_estimated boolean)
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
             order by q.route, q.lane, q.id limit p_exact + 1) s group by s.route) c;
  if v_many then
    -- The live count is lost in a crash and comes back with the next analyze.
    select greatest(p_exact + 1, pg_stat_get_live_tuples(c.oid),
             case when pg_stat_get_live_tuples(c.oid) = 0 then c.reltuples end)
           - (select coalesce(sum(l.open), 0) from postrider.lease l)
           - (select count(*) from (select from postrider.dead_letter d
                where d.blocking and d.resolved_at is null limit 10000) b)
      into v_rest from pg_class c where c.oid = 'postrider.queue'::regclass;
  end if;
  return query
  with ranges as materialized (select r.route, r.lane, r.first_id from postrider.all_ranges() r),
  waiting as materialized (
    select r.route, min(r.lane) as lane, (array_agg(r.first_id order by r.lane))[1] as first_id,
           min(postrider.waiting_since(r.route, r.lane, r.first_id)) as since
      from ranges r group by r.route),
  counted as materialized (
    select w.route, w.since, n.n, v_many and n.n >= v_cap as more from waiting w cross join lateral (
      select case
        when v_many then (select count(*) from (
          select from postrider.queue q
           where q.route = w.route and (q.lane, q.id) >= (w.lane, w.first_id)
             and q.lease is null and not q.blocked limit v_cap) s)
        else coalesce((select c.n from unnest(v_routes, v_counts) c(route, n) where c.route = w.route), 0)
        end as n) n),
  frequency as materialized (
    select f.route, f.share from pg_stats s
     cross join lateral unnest(s.most_common_vals::text::int[], s.most_common_freqs) f(route, share)
     where v_many and s.schemaname = 'postrider' and s.tablename = 'queue' and s.attname = 'route'),
  weighed as materialized (
    select c.*, case when c.more then coalesce(f.share, 0.0001) else 0 end as weight
      from counted c left join frequency f on f.route = c.route),
  guessed as materialized (
    select w.route, w.since, w.more, case when w.more then greatest(w.n, round(
        (v_rest - coalesce(sum(w.n) filter (where not w.more) over (), 0))
          * w.weight / sum(w.weight) over ())::bigint)
      else w.n end as n from weighed w),
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
  select r.namespace, r.topic, coalesce(g.n, 0)::bigint, coalesce(g.more, false),
         coalesce(extract(epoch from greatest(now() - g.since, interval '0')), 0)::double precision,
         coalesce(round(d.n * s.factor), 0)::bigint, s.guessed
    from scale s cross join postrider.route r
    left join guessed g on g.route = r.id
    left join died d on d.route = r.id
   where g.route is not null or d.route is not null;
end $$;

-- Work that relays hold now, and of that what should have been settled or given back already. Both
-- tables are small: a row per running claim, and a partial index of the blocking dead. Blocked keys are
-- counted up to 10,000; blocked_keys_at_least says whether there are more.
create function postrider.dispatching(
  out processing bigint, out stuck bigint, out blocked_keys bigint, out blocked_keys_at_least boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
  select coalesce(sum(l.open), 0), coalesce(sum(l.open) filter (where l.until < now()), 0),
         least(max(b.n), 10000), max(b.n) > 10000
    from (select count(*) as n from (select from postrider.dead_letter d
            where d.blocking and d.resolved_at is null limit 10001) s) b
    left join postrider.lease l on true
$$;
