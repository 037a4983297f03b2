-- What people see. Every join below is an index probe per message. The state of a message is that of its deliveries:
-- dead if one is dead, delivered if all are; delivery_state has one row for each subscription.
create or replace view postrider.message_state as
select m.id, r.namespace, r.topic, m.tenant, m.aggregate_type, m.aggregate_id, m.event_type,
       m.ordering_key, m.sequence, m.dedupe_key,
       case when q.blocked or d.dead then 'dead'
            when q.lease is not null then 'processing'
            when q.id is not null then 'pending'
            else 'delivered' end as state,
       least(coalesce(q.attempts + (q.lease is not null)::int, a.no, 0), 32767)::smallint as attempts,
       coalesce(q.lost_leases, 0::smallint) as lost_leases,
       coalesce(q.delivery, a.delivery, 1::smallint) as delivery,
       case when q.id is not null and q.lease is null then coalesce(q.due_at, m.created_at) end as next_attempt_at,
       w.name as locked_by,
       l.until as locked_until,
       a.error as last_error,
       a.code as last_code,
       m.created_at,
       greatest(l.claimed_at, a.finished_at, m.created_at) as updated_at
  from postrider.message m
  join postrider.route r on r.id = m.route
  left join lateral (
    -- Of several subscriptions the one that matters most: blocked, else in flight, else waiting.
    select q.* from postrider.queue_of(m.id, m.route, m.key_id, m.sequence, m.tenant) q
     order by q.blocked desc, q.lease is null, q.subscription limit 1) q on true
  left join postrider.lease l on l.token = q.lease
  left join postrider.worker w on w.id = l.worker
  left join lateral (
    select * from postrider.attempt a where a.message_id = m.id and a.state <> 5
     order by a.finished_at desc limit 1) a on true
  left join lateral (
    select true as dead from postrider.dead_letter d
     where d.message_id = m.id and (d.resolved_at is null or d.resolution = 'discarded')
     limit 1) d on true;

-- Attempts, with the running ones.
create or replace view postrider.attempt_history as
select a.message_id, a.delivery, a.no,
       (array['DISPATCHED', 'RETRYABLE', 'FAILED', 'ZOMBIE_REQUEUE', 'CONFLICT'])[a.state] as state,
       a.claimed_at, a.finished_at, a.latency_ms, w.name as worker, a.code, a.error, a.reference,
       coalesce(s.name, '') as subscription
  from postrider.attempt a
  left join postrider.worker w on w.id = a.worker
  left join lateral (
    select r.subscription as name from postrider.message m join postrider.route r on r.topic_id = m.route
     where a.subscription > 0 and m.id = a.message_id and r.topic_id > 0 and r.number = a.subscription limit 1) s on true
union all
select m.id, q.delivery, (least(q.attempts, 32766) + 1)::smallint, 'DISPATCHING', l.claimed_at, null, null, w.name, null, null, null,
       r.subscription
  from postrider.message m
 cross join lateral postrider.queue_of(m.id, m.route, m.key_id, m.sequence, m.tenant) q
  join postrider.route r on r.id = q.route
  join postrider.lease l on l.token = q.lease
  join postrider.worker w on w.id = l.worker;

-- One row for each message and subscription. Ask for one message, or a few: it reads their attempts.
create or replace view postrider.delivery_state as
select m.id, r.namespace, r.topic, coalesce(n.subscription, '') as subscription,
       case when q.blocked or d.dead then 'dead'
            when q.lease is not null then 'processing'
            when q.id is not null then 'pending'
            else 'delivered' end as state,
       least(coalesce(q.attempts + (q.lease is not null)::int, a.no, 0), 32767)::smallint as attempts,
       coalesce(q.lost_leases, 0::smallint) as lost_leases,
       coalesce(q.delivery, a.delivery, 1::smallint) as delivery,
       case when q.id is not null and q.lease is null then coalesce(q.due_at, m.created_at) end as next_attempt_at,
       w.name as locked_by, l.until as locked_until, a.error as last_error, a.code as last_code,
       greatest(l.claimed_at, a.finished_at, m.created_at) as updated_at
  from postrider.message m
  join postrider.route r on r.id = m.route
 cross join lateral (
   select q.subscription as number from postrider.queue_of(m.id, m.route, m.key_id, m.sequence, m.tenant) q
    where q.route <> -m.route
   union
   -- Not fanned out yet: it waits for each of them.
   select t.number from postrider.queue_of(m.id, m.route, m.key_id, m.sequence, m.tenant) q cross join lateral (
       select 0::smallint as number where r.active
       union all
       select o.number from postrider.route o where o.topic_id = m.route and o.topic_id > 0 and o.active) t
    where q.route = -m.route
   union
   select a.subscription from postrider.attempt a where a.message_id = m.id and a.state <> 5
   union
   select d.subscription from postrider.dead_letter d where d.message_id = m.id) s
  left join lateral (
    select o.subscription from postrider.route o
     where s.number > 0 and o.topic_id = m.route and o.topic_id > 0 and o.number = s.number limit 1) n on true
  left join lateral (
    select q.* from postrider.queue_of(m.id, m.route, m.key_id, m.sequence, m.tenant) q
     where q.subscription = s.number or q.route = -m.route limit 1) q on true
  left join postrider.lease l on l.token = q.lease
  left join postrider.worker w on w.id = l.worker
  left join lateral (
    select * from postrider.attempt a where a.message_id = m.id and a.subscription = s.number and a.state <> 5
     order by a.finished_at desc limit 1) a on true
  left join lateral (
    select true as dead from postrider.dead_letter d
     where d.message_id = m.id and d.subscription = s.number and (d.resolved_at is null or d.resolution = 'discarded')
     limit 1) d on true;

-- Daily partitions (UTC), made ahead of time. A day without one fails nothing: the default has its rows.

create or replace view postrider.partition as
select p.relname as parent, c.relname as name, m.bounds is null as is_default,
       case when m.bounds[1] = 'MINVALUE' then '-infinity'
            when p.relname = 'message' then postrider.id_time(trim(m.bounds[1], '''')::uuid)
            else trim(m.bounds[1], '''')::timestamptz end as from_at,
       case when p.relname = 'message' then postrider.id_time(trim(m.bounds[2], '''')::uuid)
            else trim(m.bounds[2], '''')::timestamptz end as to_at
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class p on p.oid = i.inhparent
  join pg_catalog.pg_class c on c.oid = i.inhrelid
 cross join lateral (
   select regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \((.*)\) TO \((.*)\)') as bounds) m
 where i.inhparent in ('postrider.message'::regclass, 'postrider.attempt'::regclass);
