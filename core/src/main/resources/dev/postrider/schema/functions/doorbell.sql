-- Whether a relay that serves this topic sleeps. The number is negative if the message is not fanned out yet. Volatile, as
-- pg_sequence_last_value is: the planner inlines a function only if its body is not more volatile than the function. Not
-- inlined it would cost 15 us in each enqueue. One call on one of four sequences, not one of four calls: each call costs
-- something to set up, made or not.
create or replace function postrider.bell(route int) returns bigint
language sql volatile
return pg_sequence_last_value((array['postrider.doorbell_0'::regclass, 'postrider.doorbell_1'::regclass,
  'postrider.doorbell_2'::regclass, 'postrider.doorbell_3'::regclass])[1 + (abs(route) & 3)]);

-- Rings for a topic. A session with postrider.notify = off does not: PREPARE TRANSACTION refuses a transaction that
-- notified, so that XA does without, and relays find its messages when they look by themselves.
create or replace function postrider.ring(route int) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('postrider.notify', true) is distinct from 'off' then
    perform pg_notify('postrider', abs(route)::text);
  end if;
end $$;

-- Rings, and hands the id through: for a statement that cannot branch.
create or replace function postrider.ring_and_return(id uuid, route int) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform postrider.ring(route);
  return id;
end $$;

-- Relays look everywhere.
create or replace function postrider.ring_all() returns void
language sql as $$
  select pg_notify('postrider', '')
$$;

-- Raises the flags that make enqueues ring, for all to see at once, not from the commit on.
create or replace function postrider.arm_doorbell() returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select setval(b, 1) from unnest(array['postrider.doorbell_0', 'postrider.doorbell_1', 'postrider.doorbell_2',
    'postrider.doorbell_3']::regclass[]) b where pg_sequence_last_value(b) = 0
$$;

-- Lowers the flags of these topics: whoever works on them looks for more by himself.
create or replace function postrider.disarm_doorbell(p_routes int[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select setval(b, 0) from (
    select distinct (array['postrider.doorbell_0', 'postrider.doorbell_1', 'postrider.doorbell_2',
      'postrider.doorbell_3']::regclass[])[1 + r % 4] as b from unnest(p_routes) r) t
   where pg_sequence_last_value(b) = 1
$$;
