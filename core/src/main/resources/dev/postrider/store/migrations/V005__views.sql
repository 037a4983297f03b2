-- What people see. Every join below is an index probe per message.
create view postrider.message_state as
select m.id, r.namespace, r.topic, m.tenant, m.aggregate_type, m.aggregate_id, m.event_type,
       m.ordering_key, m.sequence, m.dedupe_key,
       case when q.blocked then 'dead'
            when q.lease is not null then 'processing'
            when q.id is not null then 'pending'
            when d.dead then 'dead'
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
    (select q.* from postrider.queue q where q.key_id = m.key_id and q.sequence = m.sequence)
    union all
    (select q.* from postrider.queue q
      where m.key_id is null and q.key_id is null and q.route = m.route
        and q.lane in (postrider.lane_of(m.tenant), -1 - postrider.lane_of(m.tenant))
        and q.sequence = postrider.id_number(m.id) and q.id = m.id)
    limit 1) q on true
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
create view postrider.attempt_history as
select a.message_id, a.delivery, a.no,
       (array['DISPATCHED', 'RETRYABLE', 'FAILED', 'ZOMBIE_REQUEUE', 'CONFLICT'])[a.state] as state,
       a.claimed_at, a.finished_at, a.latency_ms, w.name as worker, a.code, a.error, a.reference
  from postrider.attempt a
  left join postrider.worker w on w.id = a.worker
union all
select m.id, q.delivery, (least(q.attempts, 32766) + 1)::smallint, 'DISPATCHING', l.claimed_at, null, null, w.name, null, null, null
  from postrider.message m
 cross join lateral (
   (select q.* from postrider.queue q where q.key_id = m.key_id and q.sequence = m.sequence)
   union all
   (select q.* from postrider.queue q
     where m.key_id is null and q.key_id is null and q.route = m.route and q.lane = postrider.lane_of(m.tenant)
       and q.sequence = postrider.id_number(m.id) and q.id = m.id)) q
  join postrider.lease l on l.token = q.lease
  join postrider.worker w on w.id = l.worker;
