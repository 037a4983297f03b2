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

-- Adds a subscription to a topic, which need not have a message yet. It gets every message that is committed from now on.
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
  select r.id into v_id from postrider.route r
   where r.namespace = p_namespace and r.topic = p_topic and r.subscription = p_name for update;
  if found then
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

-- Adds a named subscription that gets every message of the topic from p_from on, by the time in its id: the earlier ones
-- by a replay that the caller has to run, then those that are committed from now on, in the order of each key. Returns
-- the number of the replay; null if the subscription is there already.
create or replace function postrider.subscription_add_from(
  p_actor text, p_namespace text, p_topic text, p_name text, p_from timestamptz) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_filter jsonb := jsonb_build_object('namespace', p_namespace, 'topic', p_topic, 'subscription', p_name, 'from', p_from);
  v_id     int;
  v_job    bigint;
begin
  perform postrider.check_subscription(p_namespace, p_topic, p_name);
  if p_from is null then
    perform postrider.refuse_act('the time is missing');
  elsif not postrider.subscription_add(p_actor, p_namespace, p_topic, p_name) then
    return null;
  end if;
  update postrider.route r set catching_up = true
   where r.namespace = p_namespace and r.topic = p_topic and r.subscription = p_name returning r.id into v_id;
  -- An id may be some minutes ahead of its enqueue. Messages that are committed from now on are fanned out, and skipped.
  insert into postrider.replay_job (filter, catch_up, from_id, to_id, created_by)
  values (v_filter, v_id, postrider.id_floor(p_from), postrider.id_floor(now() + interval '10 minutes'), p_actor)
  returning id into v_job;
  perform postrider.record_act(null, p_actor, 'replay.start', jsonb_build_object('job', v_job, 'filter', v_filter), null);
  return v_job;
end $$;

-- How many messages wait for a subscription, counted up to 10,001.
create or replace function postrider.subscription_pending(p_namespace text, p_topic text, p_name text) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off as $$
  select count(*) from (
    select from postrider.route r join postrider.queue q on q.route in (r.id, -r.id) and q.subscription = r.number
     where r.namespace = p_namespace and r.topic = p_topic and r.subscription = p_name
     limit 10001) n
$$;

-- Stops a subscription: it gets no message that is committed from now on. '' is the default one. What waits for it stays
-- and is still delivered; subscription_clear() discards it. Answers whether it was active.
create or replace function postrider.subscription_remove(p_actor text, p_namespace text, p_topic text, p_name text)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_topic record;
begin
  perform postrider.check_isolation();
  lock table postrider.subscription_lock in share row exclusive mode;
  select r.id, r.fans_out into v_topic from postrider.route r
   where r.namespace = p_namespace and r.topic = p_topic and r.subscription = '';
  if v_topic.id is null then
    perform postrider.refuse_act(format('there is no topic %s/%s', p_namespace, p_topic));
  elsif not v_topic.fans_out then
    perform postrider.refuse_act(format('topic %s/%s has one subscription, which cannot be removed', p_namespace, p_topic));
  end if;
  -- Messages that are committed but not fanned out belong to it.
  perform postrider.exclude_producers();
  perform postrider.fan_out(array[v_topic.id], 10000, '{}');
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
  elsif v_topic.catching_up then
    perform postrider.end_catch_up(v_topic.id, 2147483647);
  end if;
  perform postrider.record_act(null, p_actor, 'subscription.remove', jsonb_build_object('namespace', p_namespace,
    'topic', p_topic, 'subscription', case p_name when '' then 'default' else p_name end), null);
  perform pg_notify('postrider', 'subscriptions');
  return true;
end $$;
