-- A message that lost this many leases may be killing its relays. From then on it is claimed alone.
create or replace function postrider.suspect_after() returns smallint language sql immutable parallel safe return 3::smallint;

-- The next key after p_from whose first message is a suspect that may be claimed. Looks at no more than 100 keys with
-- suspects in each topic.
create or replace function postrider.find_keyed_suspect(p_routes int[], p_from bigint) returns tid
language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
  with recursive walk as (
    select r.route, k.key_id, 1 as step from unnest(p_routes) r(route) cross join lateral (
      select q.key_id from postrider.queue q
       where q.route = r.route and q.key_id > p_from and q.lost_leases >= postrider.suspect_after()
       order by q.key_id limit 1) k
    union all
    select w.route, k.key_id, w.step + 1 from walk w cross join lateral (
      select q.key_id from postrider.queue q
       where q.route = w.route and q.key_id > w.key_id and q.lost_leases >= postrider.suspect_after()
       order by q.key_id limit 1) k
     where w.step < 100)
  select f.tid from walk w cross join lateral (
    select q.ctid as tid, q.route, q.due_at, q.lost_leases from postrider.queue q
     where q.key_id = w.key_id order by q.sequence limit 1) f
   where f.lost_leases >= postrider.suspect_after() and f.due_at <= now() and f.route = any (p_routes)
     and not exists (select from postrider.keys_in_flight(array[w.key_id]))
   limit 1
$$;

-- The place of a suspect that may be claimed: the first message of its key, or a message without a key. Starts at a
-- random key, so that many waiting keys do not hide the others.
create or replace function postrider.find_suspect(p_routes int[]) returns tid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare
  v_tid  tid;
  v_last bigint;
begin
  select s.tid into v_tid from unnest(p_routes) r(route) cross join lateral (
    select q.ctid as tid, q.due_at from postrider.queue q
     where q.route = r.route and q.key_id is null and q.lost_leases >= postrider.suspect_after() and q.due_at <= now()
     order by q.key_id, q.due_at -- key_id is null here, but the planner must be told the index's order
     limit 1) s
   order by s.due_at limit 1;
  if v_tid is null then
    select max(k.key_id) into v_last from unnest(p_routes) r(route) cross join lateral (
      select q.key_id from postrider.queue q
       where q.route = r.route and q.key_id is not null and q.lost_leases >= postrider.suspect_after()
       order by q.key_id desc limit 1) k;
    v_tid := coalesce(postrider.find_keyed_suspect(p_routes, (random() * v_last)::bigint),
                      postrider.find_keyed_suspect(p_routes, 0));
  end if;
  return v_tid;
end $$;
