-- How messages are claimed.
--
-- Whoever takes messages of a key holds the row lock of its first message, so no two claims work on one key. Nobody may
-- put a message in front of it meanwhile: claims hold `claim_lock` shared, and replay and requeue, which do that, hold
-- it alone.

-- Functions that rely on seeing what was committed before they got a lock call this first.
create or replace function postrider.check_isolation() returns void
language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'PR003',
      message = format('this function works at READ COMMITTED only, the transaction is %s',
        upper(current_setting('transaction_isolation'))),
      hint = 'Nothing was changed. Begin with SET TRANSACTION ISOLATION LEVEL READ COMMITTED.';
  end if;
end $$;

-- The queue rows of a message: one for each subscription, or one for all if it is not fanned out yet. The planner inlines
-- it; its callers set what plans it may make.
create or replace function postrider.queue_of(p_id uuid, p_route int, p_key bigint, p_sequence bigint, p_tenant text)
returns table (
  tid tid, id uuid, route int, key_id bigint, lane int, due_at timestamptz, lease bigint, attempts smallint,
  lost_leases smallint, delivery smallint, subscription smallint, blocked boolean)
language sql stable as $$
  select q.ctid, q.id, q.route, q.key_id, q.lane, q.due_at, q.lease, q.attempts, q.lost_leases, q.delivery,
         q.subscription, q.blocked
    from postrider.queue q where q.key_id = p_key and q.sequence = p_sequence
  union all
  select q.ctid, q.id, q.route, q.key_id, q.lane, q.due_at, q.lease, q.attempts, q.lost_leases, q.delivery,
         q.subscription, q.blocked
    from postrider.queue q
   where p_key is null and q.key_id is null and q.route in (p_route, -p_route)
     and q.lane in (postrider.lane_of(p_tenant), -1 - postrider.lane_of(p_tenant))
     and q.sequence = postrider.id_number(p_id) and q.id = p_id
  union all
  select s.ctid, s.id, s.route, s.key_id, s.lane, s.due_at, s.lease, s.attempts, s.lost_leases, s.delivery,
         s.subscription, s.blocked
    from postrider.route r cross join lateral (
      (select q.ctid, q.* from postrider.queue q
        where q.key_id = postrider.subscription_key(p_key, r.id) and q.sequence = p_sequence)
      union all
      (select q.ctid, q.* from postrider.queue q
        where p_key is null and q.key_id is null and q.route in (r.id, -r.id)
          and q.lane in (postrider.lane_of(p_tenant), -1 - postrider.lane_of(p_tenant))
          and q.sequence = postrider.id_number(p_id) and q.id = p_id)) s
   where r.topic_id = p_route and r.topic_id > 0
$$;

-- The queue rows of these messages.
create or replace function postrider.queue_rows(p_ids uuid[])
returns table (id uuid, tid tid, route int, key_id bigint, lane int, lease bigint, blocked boolean)
language sql stable as $$
  select m.id, q.tid, q.route, q.key_id, q.lane, q.lease, q.blocked
    from unnest(p_ids) i(id) join postrider.message m on m.id = i.id
   cross join lateral postrider.queue_of(m.id, m.route, m.key_id, m.sequence, m.tenant) q
$$;

-- Those of the keys of which a message is in flight.
create or replace function postrider.keys_in_flight(p_keys bigint[]) returns setof bigint
language sql stable set enable_hashjoin = on set enable_mergejoin = off set enable_nestloop = off as $$
  with leased as materialized (
    select k.key_id, u.last, u.token
      from unnest(p_keys) k(key_id)
      join (select l.token, u.key_id, u.last
              from postrider.lease l cross join lateral unnest(l.keys, l.lasts) u(key_id, last)) u
        on u.key_id = k.key_id)
  select distinct d.key_id from leased d cross join lateral (
    select from postrider.queue q
     where q.key_id = d.key_id and q.sequence <= d.last and q.lease = d.token limit 1) q
$$;

-- Makes parked rows whose time has come claimable. Suspects stay: they are claimed from where they are.
-- p_from: rows that were due before are not looked at; it becomes the time of the last one. more: there may be others.
create or replace function postrider.promote(p_limit int, inout p_from timestamptz, out more boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_due record;
begin
  select array_agg(d.tid) as tids, max(d.due_at) as last, count(*) as n into v_due from (
    select p.ctid as tid, p.due_at from postrider.queue p
     where p.due_at < 'infinity' and p.due_at >= p_from and p.due_at <= now()
       and p.lost_leases < postrider.suspect_after()
     order by p.due_at limit p_limit for update skip locked) d;
  more := v_due.n = p_limit;
  if v_due.n > 0 then
    update postrider.queue q set lane = -1 - q.lane, due_at = null where q.ctid = any (v_due.tids);
    p_from := v_due.last;
  end if;
end $$;

-- Keys whose first message cannot go fill the ranges that claims read. Hides their later messages from p_seen on, some
-- of each key, until the first one leaves; it is marked before. If it is in flight, has just left, or somebody works on
-- it, its key is passed over.
create or replace function postrider.hide_followers(p_keys bigint[], p_seen bigint[], p_routes int[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_firsts tid[];
  v_keys   bigint[];
begin
  v_firsts := array(
    select f.tid from unnest(p_keys) k cross join lateral (
      select q.ctid as tid from postrider.queue q where q.key_id = k order by q.sequence limit 1) f);
  v_keys := array(
    select q.key_id from postrider.queue q
     where q.ctid = any (v_firsts) and q.lease is null and (q.lane < 0 or not q.route = any (p_routes))
       for update skip locked);
  -- In a statement of its own: a row that moved before it was locked has a new place, which this one sees.
  update postrider.queue q set pull = true
   where not q.pull and q.ctid = any (array(
     select f.tid from unnest(v_keys) k cross join lateral (
       select w.ctid as tid from postrider.queue w where w.key_id = k order by w.sequence limit 1) f));
  update postrider.queue q set lane = -1 - q.lane, due_at = 'infinity'
   where q.ctid = any (array(
     select f.tid from unnest(p_keys, p_seen) k(key_id, seen) cross join lateral (
       select q.ctid as tid, q.lane, q.lease, q.sequence from postrider.queue q
        where q.key_id = k.key_id and q.sequence >= k.seen order by q.sequence limit 64) f
      where k.key_id = any (v_keys) and f.lane >= 0 and f.lease is null
        and exists (select from postrider.queue q where q.key_id = k.key_id and q.sequence < f.sequence)
      limit 2000));
end $$;

-- A marked message of these keys has left: shows the first one that is left, and marks it in turn. Waits for whoever
-- changes that row just now: its mark must not be lost. Keys in order, so that two never wait for each other.
create or replace function postrider.show_followers(p_keys bigint[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_key   bigint;
  v_first record;
begin
  for v_key in select distinct k from unnest(p_keys) k order by k loop
    loop
      select q.sequence, q.pull, q.due_at = 'infinity' and not q.blocked as hidden into v_first
        from postrider.queue q where q.key_id = v_key order by q.sequence limit 1 for update;
      exit when not found;
      update postrider.queue q set pull = true,
             lane = case when v_first.hidden then -1 - q.lane else q.lane end,
             due_at = case when v_first.hidden then null else q.due_at end
       where q.key_id = v_key and q.sequence = v_first.sequence and (v_first.hidden is true or not q.pull);
      -- Another one may have been there first when the wait was over.
      exit when not exists (select from postrider.queue q
                             where q.key_id = v_key and q.sequence < v_first.sequence and not q.pull);
    end loop;
  end loop;
end $$;
