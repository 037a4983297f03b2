-- Subscriptions of a topic, set by an explicit act. They are kept here so that all relays agree: a relay that knows fewer
-- destinations fans a message out to all subscriptions all the same.

create or replace view postrider.subscription as
select t.namespace, t.topic, s.subscription as name, s.id as route, s.number, s.active, s.created_at, s.catching_up
  from postrider.route t
  join postrider.route s on s.id = t.id or s.topic_id = t.id and s.topic_id > 0
 where t.subscription = '' and (t.fans_out or s.id <> t.id);

-- Waits until no transaction is open that has looked a topic up, and keeps new ones out. So there is an exact place in the
-- order of each key where a subscription begins or ends. A transaction that is open for long ends the wait.
create or replace function postrider.exclude_producers() returns void
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '200ms' as $$
begin
  perform postrider.check_isolation();
  lock table postrider.route in access exclusive mode;
exception when lock_not_available then
  raise exception using errcode = 'lock_not_available',
    message = 'a transaction that enqueued, or read the topics, has been open for longer than 200 ms',
    hint = 'Nothing was changed. Try again. The lock is on postrider.route (pg_locks).';
end $$;

-- Fans out what producers have committed, for the subscriptions that there are: it is little unless no relay kept up.
-- Ends after 10,000 rows, since producers are kept out. Unlike a fan-out, a change of the subscriptions waits for the disk.
create or replace function postrider.fan_out_rest(p_topic int) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_commit  text := current_setting('synchronous_commit');
  v_left    int := 10000;
  v_written int;
begin
  while v_left > 0 loop
    select f.written into v_written from postrider.fan_out(array[p_topic], v_left, '{}') f;
    exit when v_written = 0;
    v_left := v_left - v_written;
  end loop;
  perform set_config('synchronous_commit', v_commit, true);
end $$;

create or replace function postrider.check_subscription(p_namespace text, p_topic text, p_name text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if coalesce(length(p_namespace), 0) not between 1 and 100 or coalesce(length(p_topic), 0) not between 1 and 200 then
    perform postrider.refuse_act('a subscription belongs to a topic; give a namespace of 1 to 100 and a topic of 1 to 200 characters');
  elsif p_name is null or p_name !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$' then
    perform postrider.refuse_act(format('the name of a subscription has 1 to 100 letters, digits, dots, dashes and '
      || 'underscores and starts with a letter or digit, got %L', p_name));
  elsif p_name = 'default' then
    perform postrider.refuse_act('the subscription without a name is called default; choose another name');
  end if;
end $$;

-- Adds a subscription to a topic, which need not have a message yet. It gets every message that is committed from now on;
-- and, if relays are far behind, earlier ones that they have not fanned out.
-- '' is the default subscription, for a topic where it was removed. Answers whether the subscription was added: false if
-- it is there already.
create or replace function postrider.subscription_add(p_actor text, p_namespace text, p_topic text, p_name text)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_topic  int;
  v_number int;
  v_id     int;
begin
  perform postrider.check_isolation();
  if p_name <> '' then
    perform postrider.check_subscription(p_namespace, p_topic, p_name);
  end if;
  -- Before the topics are looked at: two who do that and then lock them would wait for each other.
  lock table postrider.subscription_lock in share row exclusive mode;
  if exists (select from postrider.route r
              where r.namespace = p_namespace and r.topic = p_topic and r.subscription = p_name and r.active) then
    return false;
  end if;
  perform postrider.exclude_producers();
  v_topic := postrider.intern_route(p_namespace, p_topic);
  perform postrider.fan_out_rest(v_topic);
  select r.id into v_id from postrider.route r
   where r.namespace = p_namespace and r.topic = p_topic and r.subscription = p_name for update;
  if found then
    if exists (select from postrider.route r where r.id = v_id and r.catching_up) then
      perform postrider.refuse_act('it was removed while it was catching up, and messages still wait for it; discard them '
        || 'first (subscriptions remove --discard)');
    end if;
    update postrider.route r set active = true where r.id = v_id and not r.active;
    if not found then
      return false;
    end if;
  elsif p_name <> '' then
    select coalesce(max(r.number), 0) + 1 into v_number from postrider.route r
     where r.topic_id = v_topic and r.topic_id > 0;
    if v_number > 100 then
      perform postrider.refuse_act('a topic has at most 100 subscriptions, removed ones included');
    end if;
    insert into postrider.route (namespace, topic, subscription, number, topic_id)
    values (p_namespace, p_topic, p_name, v_number, v_topic) returning id into v_id;
    if v_id >= 1 << 23 then
      perform postrider.refuse_act('there are too many topics for another subscription');
    end if;
  end if;
  update postrider.route r set fans_out = true where r.id = v_topic and not r.fans_out;
  perform postrider.record_act(null, p_actor, 'subscription.add',
    jsonb_build_object('namespace', p_namespace, 'topic', p_topic,
      'subscription', case p_name when '' then 'default' else p_name end), null);
  perform pg_notify('postrider', 'subscriptions');
  return true;
end $$;

-- Adds a named subscription that gets every message of the topic from p_from on, by the time in its id, or from the
-- message p_position on: the earlier ones by a replay that the caller has to run, then those that are committed from now
-- on, in the order of each key. Returns the number of the replay; null if the subscription is there already.
create or replace function postrider.subscription_add_from(
  p_actor text, p_namespace text, p_topic text, p_name text, p_from timestamptz, p_position uuid default null)
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_filter jsonb := jsonb_strip_nulls(jsonb_build_object('namespace', p_namespace, 'topic', p_topic,
    'subscription', p_name, 'from', coalesce(p_from, postrider.id_time(p_position))));
  v_id     int;
  v_job    bigint;
begin
  perform postrider.check_subscription(p_namespace, p_topic, p_name);
  if num_nonnulls(p_from, p_position) <> 1 then
    perform postrider.refuse_act('give either a time or the id of a message to start from');
  elsif substr(p_position::text, 15, 1) <> '7' then
    perform postrider.refuse_act(format('the id of a message is a UUIDv7, got %s', p_position));
  elsif not postrider.subscription_add(p_actor, p_namespace, p_topic, p_name) then
    return null;
  end if;
  update postrider.route r set catching_up = true
   where r.namespace = p_namespace and r.topic = p_topic and r.subscription = p_name returning r.id into v_id;
  -- An id may be some minutes ahead of its enqueue. Messages that are committed from now on are fanned out, and skipped.
  insert into postrider.replay_job (filter, catch_up, from_id, to_id, created_by)
  values (v_filter, v_id, coalesce(p_position, postrider.id_floor(p_from)), postrider.id_floor(now() + interval '10 minutes'), p_actor)
  returning id into v_job;
  perform postrider.record_act(null, p_actor, 'replay.start', jsonb_build_object('job', v_job, 'filter', v_filter), null);
  return v_job;
end $$;

-- The numbers of the queue under which a subscription's own messages are: what waits for a catch-up has the negative one. A
-- topic's negative number is none of its default subscription: those messages are not fanned out yet.
create or replace function postrider.subscription_routes(p_route int, p_topic int) returns int[]
language sql immutable parallel safe return case when p_topic > 0 then array[p_route, -p_route] else array[p_route] end;

-- How many messages wait for a subscription, counted up to 10,001. What is not fanned out yet waits for each active one.
create or replace function postrider.subscription_pending(p_namespace text, p_topic text, p_name text) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off as $$
  select count(*) from (
    select from postrider.route r cross join lateral unnest(postrider.subscription_routes(r.id, r.topic_id)
             || case when r.active then -coalesce(nullif(r.topic_id, 0), r.id) end) n(route)
      join postrider.queue q on q.route = n.route
     where r.namespace = p_namespace and r.topic = p_topic and r.subscription = p_name
     limit 10001) n
$$;

-- Stops a subscription: it gets no message that is committed from now on. '' is the default one. What waits for it stays
-- and is still delivered, unless subscription_discard() discards it. Answers whether it was active.
-- p_discard: the caller will call subscription_discard(). Without, it is refused while messages wait until the subscription
-- has its earlier ones: they would come before those, if it is added with them again.
create or replace function postrider.subscription_remove(
  p_actor text, p_namespace text, p_topic text, p_name text, p_discard boolean default false)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  v_topic record;
  v_job   bigint;
begin
  perform postrider.check_isolation();
  lock table postrider.subscription_lock in share row exclusive mode;
  -- Before producers are kept out: a step of the replay has this lock and may wait for a producer.
  select j.id into v_job from postrider.replay_job j
    join postrider.route r on r.id = j.catch_up
   where r.namespace = p_namespace and r.topic = p_topic and r.subscription = p_name and j.state <> 'done'
     for update of j;
  select r.id, r.fans_out into v_topic from postrider.route r
   where r.namespace = p_namespace and r.topic = p_topic and r.subscription = '';
  if v_topic.id is null then
    perform postrider.refuse_act(format('there is no topic %s/%s', p_namespace, p_topic));
  elsif not v_topic.fans_out then
    perform postrider.refuse_act(format('topic %s/%s has one subscription, which cannot be removed', p_namespace, p_topic));
  end if;
  -- Messages that are committed but not fanned out belong to it.
  perform postrider.exclude_producers();
  perform postrider.fan_out_rest(v_topic.id);
  if exists (select from postrider.queue q where q.route = -v_topic.id) then
    perform postrider.refuse_act('messages of the topic are not fanned out yet; try again when a relay has done that');
  end if;
  if not exists (select from postrider.route r
                  where r.namespace = p_namespace and r.topic = p_topic and r.subscription <> p_name and r.active) then
    perform postrider.refuse_act(format('topic %s/%s would have no subscription left; add another one first',
      p_namespace, p_topic));
  end if;
  update postrider.route r set active = false
   where r.namespace = p_namespace and r.topic = p_topic and r.subscription = p_name and r.active
  returning r.id, r.catching_up into v_topic;
  if not found then
    return false;
  end if;
  if v_topic.catching_up then
    if not exists (select from postrider.queue q where q.route = -v_topic.id) then
      update postrider.route r set catching_up = false where r.id = v_topic.id;
    elsif not p_discard then
      perform postrider.refuse_act(format('messages wait until it has its earlier ones; let replay %s end (replay resume '
        || '%1$s), or discard what waits (subscriptions remove --discard)', v_job));
    end if;
    update postrider.replay_job j set state = 'done', position = j.to_id, updated_at = now(), finished_at = now()
     where j.id = v_job;
  end if;
  perform postrider.record_act(null, p_actor, 'subscription.remove', jsonb_build_object('namespace', p_namespace,
    'topic', p_topic, 'subscription', case p_name when '' then 'default' else p_name end), null);
  perform pg_notify('postrider', 'subscriptions');
  return true;
end $$;

-- Discards up to p_limit of the messages that wait for a removed subscription, without what is in flight. They become
-- discarded dead letters, so that everybody sees that they were not delivered. Repeat with the audit row that came back
-- until none is left: only then a subscription that was catching up may be added again.
create or replace function postrider.subscription_discard(
  p_actor text, p_reason text, p_namespace text, p_topic text, p_name text, p_limit int, p_audit bigint default null,
  out discarded int, out audit bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_route record;
  v_pulls bigint[];
begin
  perform postrider.check_isolation();
  -- A lock that keeps out who would add it again, but no fan-out of the topic.
  select r.id, r.number, r.active, r.catching_up, postrider.subscription_routes(r.id, r.topic_id) as queued into v_route
    from postrider.route r
   where r.namespace = p_namespace and r.topic = p_topic and r.subscription = p_name for key share;
  if v_route.id is null then
    perform postrider.refuse_act(format('there is no such subscription of %s/%s', p_namespace, p_topic));
  elsif v_route.active then
    perform postrider.refuse_act('only what waits for a removed subscription is discarded; remove it first');
  elsif coalesce(btrim(p_reason), '') = '' then
    perform postrider.refuse_act('reason is missing; it is recorded with each message');
  end if;
  with gone as (
    delete from postrider.queue q
     where q.ctid = any (array(
       select w.ctid from postrider.queue w
        where w.route = any (v_route.queued) and w.lease is null and not w.blocked
        limit p_limit for update skip locked))
    returning q.id, q.key_id, q.sequence, q.attempts, q.delivery, q.pull),
  buried as (
    insert into postrider.dead_letter (message_id, subscription, delivery, route, key_id, sequence, attempts, died_at,
      code, resolved_at, resolution, resolved_by, reason)
    select g.id, v_route.number, g.delivery, v_route.id, g.key_id, case when g.key_id is not null then g.sequence end,
           g.attempts, now(), 'subscription_removed', now(), 'discarded', p_actor, p_reason
      from gone g
    on conflict do nothing)
  select count(*), array_agg(g.key_id) filter (where g.pull) into discarded, v_pulls from gone g;
  if v_pulls is not null then
    perform postrider.show_followers(v_pulls);
  end if;
  if v_route.catching_up and not exists (select from postrider.queue q where q.route = -v_route.id) then
    update postrider.route r set catching_up = false where r.id = v_route.id;
  end if;
  audit := postrider.record_act(p_audit, p_actor, 'subscription.discard', jsonb_build_object('namespace', p_namespace,
    'topic', p_topic, 'subscription', case p_name when '' then 'default' else p_name end, 'reason', p_reason), discarded);
end $$;
