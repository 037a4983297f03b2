-- Whether a relay that serves this topic sleeps. The number is negative if the message is not fanned out yet. The
-- function is volatile because pg_sequence_last_value is volatile: otherwise the planner does not inline it, and each
-- enqueue costs 15 us more. It makes one call and chooses among four sequences, because each call in the text costs
-- set-up time even if it is not reached.
create or replace function postrider.bell(route int) returns bigint
language sql volatile
return pg_sequence_last_value((array['postrider.doorbell_0'::regclass, 'postrider.doorbell_1'::regclass,
  'postrider.doorbell_2'::regclass, 'postrider.doorbell_3'::regclass])[1 + (abs(route) & 3)]);

-- Rings for a topic. A session with postrider.notify = off does not ring, because PREPARE TRANSACTION refuses a
-- transaction that called NOTIFY. Relays find its messages at their next poll.
create or replace function postrider.ring(route int) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('postrider.notify', true) is distinct from 'off' then
    perform pg_notify('postrider', abs(route)::text);
  end if;
end $$;

-- Rings and returns the id, for a statement that cannot branch.
create or replace function postrider.ring_and_return(id uuid, route int) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform postrider.ring(route);
  return id;
end $$;

-- Rings for all topics.
create or replace function postrider.ring_all() returns void
language sql as $$
  select pg_notify('postrider', '')
$$;

-- Raises the flags that make enqueues ring. Other sessions see this at once, before the commit.
create or replace function postrider.arm_doorbell() returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select setval(b, 1) from unnest(array['postrider.doorbell_0', 'postrider.doorbell_1', 'postrider.doorbell_2',
    'postrider.doorbell_3']::regclass[]) b where pg_sequence_last_value(b) = 0
$$;

-- Lowers the flags of these topics. A relay that works on a topic looks for more messages without a ring.
create or replace function postrider.disarm_doorbell(p_routes int[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select setval(b, 0) from (
    select distinct (array['postrider.doorbell_0', 'postrider.doorbell_1', 'postrider.doorbell_2',
      'postrider.doorbell_3']::regclass[])[1 + r % 4] as b from unnest(p_routes) r) t
   where pg_sequence_last_value(b) = 1
$$;
