-- Records what a relay serves. Returns false if the worker is not there any more. p_destinations: [{name, type}],
-- p_routes: [{namespace, topic, subscription, destination}]. Also forgets relays that ended, or were last seen, over a
-- day ago: until then the names of their destinations stay known, so that an operator can pause one while no relay
-- runs.
create or replace function postrider.relay_record(
  p_worker int, p_instance text, p_version text, p_host text, p_pid bigint, p_listens boolean,
  p_destinations jsonb, p_routes jsonb)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  delete from postrider.relay r where r.worker in (
    select o.worker from postrider.relay o join postrider.worker w on w.id = o.worker
     where o.worker <> p_worker and w.seen_at < now() - interval '1 day'
     order by o.worker limit 100 for update of o skip locked);
  delete from postrider.relay r where r.worker = p_worker;
  insert into postrider.relay (worker, instance, version, host, pid, listens)
  select w.id, w.instance, p_version, p_host, p_pid, p_listens
    from postrider.worker w where w.id = p_worker and w.instance = p_instance;
  if not found then
    return false;
  end if;
  insert into postrider.relay_destination (worker, name, type)
  select p_worker, d.name, d.type from jsonb_to_recordset(p_destinations) d(name text, type text);
  insert into postrider.relay_route (worker, namespace, topic, subscription, destination)
  select p_worker, r.namespace, r.topic, coalesce(r.subscription, ''), r.destination
    from jsonb_to_recordset(p_routes) r(namespace text, topic text, subscription text, destination text)
  on conflict do nothing; -- of two routes for one topic a relay goes by the first
  return true;
end $$;

-- Records breakers that changed. Returns false if the relay has no record, so it has to be made again. p_probe_in: the
-- milliseconds until an open breaker lets a probe pass.
create or replace function postrider.relay_breakers(
  p_worker int, p_instance text, p_names text[], p_breakers text[], p_open_targets int[], p_probe_in bigint[])
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update postrider.relay_destination d
     set breaker = n.breaker, open_targets = n.open_targets,
         probe_at = case when n.breaker = 'open' then now() + n.probe_in * interval '1 millisecond' end,
         changed_at = case when (d.breaker = 'closed') = (n.breaker = 'closed') and d.open_targets = n.open_targets
                           then d.changed_at else now() end
    from unnest(p_names, p_breakers, p_open_targets, p_probe_in) n(name, breaker, open_targets, probe_in)
   where d.worker = p_worker and d.name = n.name
     and exists (select from postrider.relay r where r.worker = p_worker and r.instance = p_instance);
  return found;
end $$;

-- The other relays that can answer a ring, with their routes. A relay whose breaker is not closed claims little or
-- nothing, so it is left out.
create or replace function postrider.ring_owners(p_instance text)
returns table (instance text, namespace text, topic text, subscription text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select r.instance, t.namespace, t.topic, t.subscription
    from postrider.relay r
    join postrider.worker w on w.id = r.worker and w.instance = r.instance
    join postrider.relay_route t on t.worker = r.worker
    join postrider.relay_destination d on d.worker = r.worker and d.name = t.destination
   where r.instance <> p_instance and r.listens and w.stopped_at is null
     and w.seen_at > now() - interval '30 seconds' and d.breaker = 'closed'
   limit 10000
$$;

-- Topics and subscriptions with queued messages that no living relay has a route for, a hundred at most. None if no
-- relay lives. None as well if somebody claims who has not recorded what: a loop on the lease store within the last
-- ten minutes (it says once a minute that it claims), or a relay that is just starting.
create or replace function postrider.unrouted_topics() returns table (namespace text, topic text, subscription text)
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
  with living as materialized (
    select r.worker from postrider.relay r
      join postrider.worker w on w.id = r.worker and w.instance = r.instance
     where w.stopped_at is null and w.seen_at > now() - interval '2 minutes'),
  served as materialized ( -- each route once, however many relays have it
    select distinct s.namespace, s.topic, s.subscription
      from living l join postrider.relay_route s on s.worker = l.worker),
  known as materialized (
    select exists (select from living) and not exists (
      select from postrider.worker w
       where w.stopped_at is null
         and w.seen_at > now() - case w.instance when '' then interval '10 minutes' else interval '2 minutes' end
         and not exists (select from postrider.relay r where r.instance = w.instance)) as all_known)
  select t.namespace, t.topic, t.subscription
    from known k cross join lateral (select r.route as id from postrider.queued_routes() r where k.all_known) q
    join postrider.route t on t.id = abs(q.id)
   where not exists (
     select from served s
      where s.namespace in (t.namespace, '*') and s.topic in (t.topic, '*')
        and (s.subscription = t.subscription or q.id = -t.id and t.topic_id = 0)) -- any relay of the topic fans out
   order by 1, 2, 3 limit 100
$$;
