-- Why a message is not delivered: for each subscription that has not got it, every reason that holds it back now, in the
-- order in which they have to go away. A message that waits for another one of its key also gets the reasons of that
-- one. `message` is the message that has the reason, `other` the message that it waits for. `ready` means that nothing
-- holds it back: a relay takes it with one of its next claims. `delivered` is the only row if all subscriptions have it.
-- No row: there is no such message. Reads a few rows by index, whatever the number of waiting messages.
-- p_subscription: only the subscription with this number, for the message that another one waits for.
--
-- Only relays record their routes. If a loop on the lease store was seen within the last ten minutes, it may serve any
-- topic, so a missing route is no reason.
create or replace function postrider.why(p_id uuid, p_subscription smallint default null)
returns table (
  message uuid, subscription text, reason text, since timestamptz, until timestamptz, relay text, destination text,
  other uuid, code text, count bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off
as $$
#variable_conflict use_column
declare
  v_message record;
  v_queued  record;
  v_found   record;
  v_topic   text;
  v_loops   boolean;
  v_waits   smallint[] := '{}';
  v_any     boolean; -- something holds it back
begin
  select m.id, m.route, m.key_id, m.sequence, m.created_at, m.not_before, r.namespace, r.topic into v_message
    from postrider.message m join postrider.route r on r.id = m.route where m.id = p_id;
  if not found then
    return;
  end if;
  v_topic := replace(replace(v_message.namespace, '%', '%25'), '/', '%2F') || '/' || v_message.topic;

  for v_queued in
    select q.*, coalesce(s.subscription, '') as name, q.route < 0 and s.topic_id > 0 as catching_up, s.id as route_id
      from postrider.queue_rows(array[p_id]) qr join postrider.queue q on q.ctid = qr.tid
      left join postrider.route s on s.id = abs(q.route)
     where not q.blocked and (p_subscription is null or q.subscription = p_subscription or q.route < 0)
     order by q.subscription
  loop
    v_waits := v_waits || v_queued.subscription;
    v_any := false;

    if v_queued.lease is not null then
      return query
        select p_id, v_queued.name, case when l.until >= now() then 'leased' else 'lease_over' end, l.claimed_at, l.until,
               coalesce(w.name, ''), null, null::uuid, null, null::bigint
          from (values (v_queued.lease)) held(token)
          left join postrider.lease l on l.token = held.token
          left join postrider.worker w on w.id = l.worker;
      continue;
    end if;

    if v_queued.catching_up then
      return query
        select p_id, v_queued.name, 'catching_up', j.updated_at, null::timestamptz, null, null, null::uuid, j.state, j.id
          from (select 1) one left join lateral (
            select * from postrider.replay_job j where j.catch_up = v_queued.route_id and j.state <> 'done'
             order by j.id desc limit 1) j on true;
    end if;

    return query
      select p_id, v_queued.name, 'topic_paused', p.paused_at, null::timestamptz, p.paused_by, null, null::uuid, null,
             null::bigint
        from postrider.pause p
       where p.kind = 'topic' and p.name = v_topic
          or p.kind = 'subscription'
             and p.name = v_topic || '#' || case v_queued.name when '' then 'default' else v_queued.name end;
    v_any := found or v_queued.catching_up;

    -- Where living relays send it: of each relay the most specific route, as the relay itself decides.
    v_loops := exists (
      select from postrider.worker w
       where w.stopped_at is null
         and w.seen_at > now() - case w.instance when '' then interval '10 minutes' else interval '2 minutes' end
         and not exists (select from postrider.relay r where r.instance = w.instance));
    select count(*) as relays, count(s.destination) as routed, array_agg(distinct s.destination)
             filter (where s.destination is not null) as destinations
      into v_found
      from postrider.relay r join postrider.worker w on w.id = r.worker and w.instance = r.instance
      left join lateral (
        select t.destination from postrider.relay_route t
         where t.worker = r.worker and t.namespace in (v_message.namespace, '*') and t.topic in (v_message.topic, '*')
           and t.subscription = v_queued.name
         order by t.namespace = '*', t.topic = '*' limit 1) s on true
     where w.stopped_at is null and w.seen_at > now() - interval '2 minutes';
    if v_found.routed = 0 and not v_loops then
      return query select p_id, v_queued.name, case when v_found.relays = 0 then 'no_relay' else 'no_route' end,
        null::timestamptz, null::timestamptz, null, null, null::uuid, null, v_found.relays;
      v_any := true;
    end if;
    return query
      select p_id, v_queued.name, 'destination_paused', p.paused_at, null::timestamptz, p.paused_by, p.name, null::uuid,
             null, null::bigint
        from postrider.pause p where p.kind = 'destination' and p.name = any (v_found.destinations)
       order by p.name;
    v_any := v_any or found;
    -- A destination that at least one relay reaches holds nothing back.
    return query
      select p_id, v_queued.name, 'breaker_open', max(d.changed_at), min(d.probe_at), null, d.name, null::uuid, null,
             count(*)
        from postrider.relay_destination d
        join postrider.relay r on r.worker = d.worker
        join postrider.worker w on w.id = r.worker and w.instance = r.instance
       where d.name = any (v_found.destinations) and w.stopped_at is null and w.seen_at > now() - interval '2 minutes'
       group by d.name having bool_and(d.breaker <> 'closed') order by d.name;
    v_any := v_any or found;

    if v_queued.key_id is not null then
      -- The first of the key, or one that is in flight: this one was put in front of it.
      select q.id, q.sequence into v_found from postrider.queue q
       where q.key_id = v_queued.key_id and q.sequence < v_queued.sequence order by q.sequence limit 1;
      if not found then
        select q.id, q.sequence into v_found from postrider.keys_in_flight(array[v_queued.key_id]) f
          join postrider.queue q on q.key_id = f and q.lease is not null order by q.sequence limit 1;
      end if;
      if found then
        return query select p_id, v_queued.name, 'behind', null::timestamptz, null::timestamptz, null, null, v_found.id,
          null, (select count(*) from (select from postrider.queue q
            where q.key_id = v_queued.key_id and q.sequence < v_queued.sequence limit 1000) s);
        if p_subscription is null then
          return query select * from postrider.why(v_found.id, v_queued.subscription);
        end if;
        v_any := true;
      end if;
    end if;

    if v_queued.due_at > now() and v_queued.due_at < 'infinity' then
      select a.code into v_found from postrider.attempt a
       where a.message_id = p_id and a.subscription = v_queued.subscription and a.delivery = v_queued.delivery
         and a.state = 2
       order by a.finished_at desc limit 1;
      return query select p_id, v_queued.name,
        case when v_queued.attempts > 0 then 'backoff'
             when v_queued.due_at <= v_message.not_before then 'delayed'
             else 'deferred' end,
        null::timestamptz, v_queued.due_at, null, null, null::uuid, v_found.code, v_queued.attempts::bigint;
      v_any := true;
    elsif v_queued.lost_leases >= postrider.suspect_after() then
      return query select p_id, v_queued.name, 'suspect', null::timestamptz, null::timestamptz, null, null, null::uuid,
        null, v_queued.lost_leases::bigint;
      v_any := true;
    end if;
    if not v_any then
      return query select p_id, v_queued.name, 'ready', greatest(v_message.created_at, v_message.not_before),
        null::timestamptz, null, null, null::uuid, null, null::bigint;
    end if;
  end loop;

  v_any := v_waits <> '{}';
  return query
    select p_id, coalesce(r.subscription, ''), case when d.resolved_at is null then 'dead' else 'discarded' end,
           coalesce(d.resolved_at, d.died_at), null::timestamptz, null, null, null::uuid, d.code, null::bigint
      from (select distinct on (l.subscription) l.subscription, l.route, l.died_at, l.resolved_at, l.code
              from postrider.dead_letter l
             where l.message_id = p_id and (l.resolved_at is null or l.resolution = 'discarded')
               and l.subscription <> all (v_waits) and (p_subscription is null or l.subscription = p_subscription)
             order by l.subscription, l.delivery desc) d
      left join postrider.route r on r.id = d.route
     order by d.subscription;
  if not found and not v_any then
    return query select p_id, '', 'delivered',
      (select max(a.finished_at) from postrider.attempt a where a.message_id = p_id and a.state = 1),
      null::timestamptz, null, null, null::uuid, null, null::bigint;
  end if;
end $$;
