-- One message for several subscriptions.
--
-- A producer writes one queue row under the negative number of the topic, whatever the number of subscriptions. A relay
-- replaces it with a row for each of them. One relay at a time does so for a topic, and takes the messages of a key in
-- their order. So each subscription gets every message once, and has the order of each key. Rows of a subscription that
-- catches up have its negative number: they wait until it has its earlier messages, see replay_step().

-- The queue's number of a key in a named subscription: the order of a key, and its blocking, are those of a subscription.
-- In the default subscription a key has its own number, and its order holds across topics.
create or replace function postrider.subscription_key(key_id bigint, route int) returns bigint
language sql immutable parallel safe return key_id | (route::bigint << 40);

-- The number that the key has in ordering_key and message.
create or replace function postrider.plain_key(key_id bigint) returns bigint
language sql immutable parallel safe return key_id & ((1::bigint << 40) - 1);

-- Locks up to p_limit messages of a topic that are not fanned out: the oldest ones of each tenant, and of each key the
-- first few in their order. Tenants and keys from a random one on, so that none waits for another's backlog.
create or replace function postrider.fan_out_pick(p_topic int, p_limit int) returns tid[]
language plpgsql volatile set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  c_lanes constant int := 64;
  v_start int := (random() * 2147483647)::int;
  v_lanes int[];
  v_share int;
  v_last  bigint;
  v_from  bigint;
  v_keys  bigint[];
  v_most  int;
  v_tids  tid[];
  v_of    bigint[];
  v_locked tid[];
begin
  -- Without an order by: it ends at the limit, however many tenants there are.
  v_lanes := array(
    with recursive above as (
      (select q.lane from postrider.queue q
        where q.route = -p_topic and q.lane > v_start order by q.lane limit 1)
      union all
      select n.lane from above l cross join lateral (
        select q.lane from postrider.queue q
         where q.route = -p_topic and q.lane > l.lane order by q.lane limit 1) n),
    below as (
      (select q.lane from postrider.queue q
        where q.route = -p_topic and q.lane <= v_start order by q.lane limit 1)
      union all
      select n.lane from below l cross join lateral (
        select q.lane from postrider.queue q
         where q.route = -p_topic and q.lane > l.lane and q.lane <= v_start order by q.lane limit 1) n)
    select a.lane from above a union all select b.lane from below b limit least(c_lanes, p_limit));
  if v_lanes = '{}' then
    return '{}';
  end if;
  v_share := (p_limit - 1) / cardinality(v_lanes) + 1;
  -- route < 0: the condition of the index queue_to_fan_out. Else the planner reads the other messages of the keys.
  select q.key_id into v_last from postrider.queue q
   where q.route = -p_topic and q.route < 0 and q.key_id is not null order by q.key_id desc limit 1;
  v_keys := '{}';
  if v_last is not null then
    v_from := (random() * v_last)::bigint;
    v_keys := array(
      select distinct k.key_id from unnest(v_lanes) l(lane) cross join lateral (
        with recursive walk as (
          (select q.key_id, 0 as turn from postrider.queue q
            where q.route = -p_topic and q.lane = l.lane and q.key_id >= v_from order by q.key_id limit 1)
          union all
          (select q.key_id, 1 from postrider.queue q
            where q.route = -p_topic and q.lane = l.lane and q.key_id < v_from order by q.key_id limit 1)
          union all
          select n.key_id, w.turn from walk w cross join lateral (
            select q.key_id from postrider.queue q
             where q.route = -p_topic and q.lane = l.lane and q.key_id > w.key_id
             order by q.key_id limit 1) n
           where w.turn = 0 or n.key_id < v_from)
        select w.key_id from walk w limit v_share) k);
  end if;
  v_most := greatest(1, p_limit / greatest(1, cardinality(v_keys)));
  select coalesce(array_agg(u.tid), '{}'), coalesce(array_agg(u.key_id), '{}') into v_tids, v_of from (
    select p.tid, null::bigint as key_id from unnest(v_lanes) l(lane) cross join lateral (
      select q.ctid as tid from postrider.queue q
       where q.route = -p_topic and q.lane = l.lane and q.key_id is null
       order by q.key_id, q.sequence -- key_id is null here, but the planner must be told the index's order
       limit v_share) p
    union all
    select r.tid, k.key_id from unnest(v_keys) k(key_id) cross join lateral (
      select q.ctid as tid from postrider.queue q
       where q.route = -p_topic and q.route < 0 and q.key_id = k.key_id order by q.sequence limit v_most) r) u;
  -- A claim or a settlement may be changing a row just now, to hide or to show it.
  v_locked := array(
    select q.ctid from postrider.queue q
     where q.ctid = any (v_tids) and q.route + 0 = -p_topic -- no condition for an index
       for update skip locked);
  if cardinality(v_locked) = cardinality(v_tids) then
    return v_locked;
  end if;
  return array(
    select u.tid from unnest(v_tids, v_of) u(tid, key_id)
     where u.tid = any (v_locked)
       and (u.key_id is null or not exists (
         select from unnest(v_tids, v_of) o(tid, key_id) where o.key_id = u.key_id and not o.tid = any (v_locked))));
end $$;

-- Fans the next messages of these topics out, and writes about p_rows rows in all, the same share for each topic. Returns
-- the routes that got messages; rings for those of them that the caller does not serve. again: the topics that may have
-- more messages, and those that another relay is fanning out, which is left to it. written: how many rows.
create or replace function postrider.fan_out(
  p_topics int[], p_rows int, p_served int[], out routes int[], out again int[], out written int)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_topic record;
  v_free  int[] := '{}';
  v_limit int;
  v_tids  tid[];
  v_subs  record;
  v_pulls bigint[];
begin
  perform postrider.check_isolation();
  -- A crash may undo it, and then it is done again: nothing that builds on it is committed before it.
  perform set_config('synchronous_commit', 'off', true);
  routes := '{}';
  again := '{}';
  written := 0;
  for v_topic in
    select r.id from postrider.route r where r.id = any (p_topics) and r.fans_out
     order by r.id for no key update skip locked
  loop
    v_free := v_free || v_topic.id;
    -- Read under the lock: whoever adds or removes a subscription has it, too.
    select coalesce(array_agg(r.id) filter (where r.topic_id > 0), '{}') as ids,
           coalesce(array_agg(case when r.catching_up then -r.id else r.id end) filter (where r.topic_id > 0), '{}') as routes,
           coalesce(array_agg(r.number) filter (where r.topic_id > 0), '{}') as numbers,
           coalesce(bool_or(r.topic_id = 0), false) as unnamed
      into v_subs
      from (select r.id, r.number, r.topic_id, r.catching_up from postrider.route r where r.id = v_topic.id and r.active
            union all
            select r.id, r.number, r.topic_id, r.catching_up from postrider.route r
             where r.topic_id = v_topic.id and r.topic_id > 0 and r.active) r;
    v_limit := greatest(10, p_rows / (1 + cardinality(v_subs.ids)) / cardinality(p_topics));
    v_tids := postrider.fan_out_pick(v_topic.id, v_limit);
    -- Whether rows are left: the shares may be small, or somebody changes some rows just now. What is committed after
    -- the pick rings.
    if cardinality(v_tids) >= v_limit / 2
        or exists (select from postrider.queue q
                    where q.route = -v_topic.id and q.route < 0 and q.ctid not in (select t from unnest(v_tids) t)) then
      again := again || v_topic.id;
    end if;
    continue when v_tids = '{}';
    insert into postrider.queue (id, key_id, sequence, due_at, route, size, lane, subscription)
    select q.id, postrider.subscription_key(q.key_id, s.id), q.sequence, case when q.due_at < 'infinity' then q.due_at end,
           s.route, q.size, case when q.lane < 0 and q.due_at = 'infinity' then -1 - q.lane else q.lane end, s.number
      from unnest(v_subs.ids, v_subs.numbers, v_subs.routes) s(id, number, route) cross join postrider.queue q
     where q.ctid = any (v_tids);
    if v_subs.unnamed then
      update postrider.queue q set route = v_topic.id where q.ctid = any (v_tids);
      routes := routes || v_topic.id;
    else
      with gone as (delete from postrider.queue q where q.ctid = any (v_tids) returning q.key_id, q.pull)
      select array_agg(g.key_id) into v_pulls from gone g where g.pull;
      if v_pulls is not null then
        perform postrider.show_followers(v_pulls);
      end if;
    end if;
    routes := routes || array(select r from unnest(v_subs.routes) r where r > 0);
    written := written
      + cardinality(v_tids) * (cardinality(v_subs.ids) + case when v_subs.unnamed then 1 else 0 end);
  end loop;
  again := again || array(
    select r.id from postrider.route r where r.id = any (p_topics) and r.fans_out and not r.id = any (v_free));
  perform postrider.ring(r) from unnest(routes) r where not r = any (p_served) and postrider.bell(r) = 1;
end $$;
