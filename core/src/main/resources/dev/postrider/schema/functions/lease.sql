-- Releases the rows of expired leases and records a ZOMBIE_REQUEUE attempt for each. It counts a lost lease, but no
-- attempt, since nobody knows whether the message was sent. A suspect waits longer after each lost lease. Skips leases
-- that another reaper has locked. Safe to run concurrently and repeatedly. Leases with tokens lower than p_from are
-- skipped. One call ends whole leases, up to 100 of them, and none after 10,000 rows. Returns the number of rows and the
-- lowest token that is left.
create or replace function postrider.reap_from(p_from bigint, out reaped int, out lowest bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  c_rows  constant int := 10000;
  v_lease record;
  v_n     int;
begin
  perform postrider.check_isolation();
  reaped := 0;
  for v_lease in
    select * from postrider.lease l where l.token >= p_from and l.until < now()
     order by l.token limit 100 for update skip locked
  loop
    exit when reaped >= c_rows;
    -- Repeats until no row is left: a concurrent mark may have moved one.
    while exists (select from postrider.queue_rows(v_lease.ids) q where q.lease = v_lease.token) loop
      with freed as (
        update postrider.queue q set lease = null, lost_leases = least(q.lost_leases, 32766) + 1,
               lane = case when q.lost_leases + 1 < postrider.suspect_after() then q.lane else -1 - q.lane end,
               due_at = case when q.lost_leases + 1 >= postrider.suspect_after()
                             then now() + least(2 ^ (least(q.lost_leases, 10) + 1), 900) * interval '1 s' end
         where q.lease = v_lease.token and q.ctid = any (array(
           select h.tid from postrider.queue_rows(v_lease.ids) h where h.lease = v_lease.token))
        returning q.id, q.attempts, q.delivery, q.subscription)
      insert into postrider.attempt (message_id, claimed_at, finished_at, worker, no, delivery, state, subscription, code)
      select f.id, v_lease.claimed_at, now(), v_lease.worker, f.attempts, f.delivery, 4, f.subscription, 'lease_expired'
        from freed f;
      get diagnostics v_n = row_count;
      reaped := reaped + v_n;
    end loop;
    delete from postrider.lease l where l.token = v_lease.token;
  end loop;
  select l.token into lowest from postrider.lease l where l.token >= p_from order by l.token limit 1;
end $$;

create or replace function postrider.reap() returns int
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select r.reaped from postrider.reap_from(0) r
$$;

-- Extends a whole lease; answers whether it is still held. Takes one lease, to avoid a deadlock: a settlement may lock
-- several leases in any order.
create or replace function postrider.renew(p_token bigint, p_lease_ms bigint) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off as $$
  with renewed as (
    update postrider.lease l set until = now() + p_lease_ms * interval '1 ms' where l.token = p_token returning l.token)
  select exists (select from renewed)
$$;

-- Renews the lease of a single row. The row gets its own lease, so that the other rows of the old lease are not
-- renewed. The old lease is locked before the row is read: the same worker may be settling the row on another
-- connection, and a lease must not be split for a row that is gone.
create or replace function postrider.renew_held(p_worker int, p_id uuid, p_lease_ms bigint, p_routes int[] default null)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_row   record;
  v_until timestamptz := now() + p_lease_ms * interval '1 ms';
  v_token bigint;
begin
  perform postrider.check_isolation();
  loop
    select q.tid, q.key_id, l.token, count(*) over () as held into v_row
      from postrider.queue_rows(array[p_id]) q
      join postrider.lease l on l.token = q.lease and l.worker = p_worker;
    if not found then
      perform postrider.record_conflicts(
        p_worker, array[p_id], array['renew'], p_route => array[postrider.route_of(p_id, p_routes)]);
      return false;
    elsif v_row.held > 1 then
      perform postrider.refuse_held_twice(p_worker, p_id);
    end if;
    perform from postrider.lease l where l.token = v_row.token for update;
    exit when exists (select from postrider.queue_rows(array[p_id]) q where q.lease = v_row.token);
  end loop;
  update postrider.lease l set until = v_until where l.token = v_row.token and l.open = 1;
  if not found then
    insert into postrider.lease (token, worker, claimed_at, until, open, ids, keys, lasts)
    select nextval('postrider.lease_token'), l.worker, l.claimed_at, v_until, 1, array[p_id], l.keys, l.lasts
      from postrider.lease l where l.token = v_row.token
    returning token into v_token;
    loop
      update postrider.queue q set lease = v_token
       where q.lease = v_row.token
         and q.ctid = any (array(select r.tid from postrider.queue_rows(array[p_id]) r));
      exit when found; -- else somebody has just moved the row, to mark it
    end loop;
    update postrider.lease l set open = l.open - 1 where l.token = v_row.token;
  end if;
  return true;
end $$;

-- After a lost connection a worker does not know what its last claim took. It passes the leases that it knows; its
-- other leases expire at once.
create or replace function postrider.forget_leases(p_worker int, p_known bigint[]) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_n int;
begin
  perform postrider.check_isolation();
  perform from postrider.lease l where l.worker = p_worker order by l.token for update;
  update postrider.lease l set until = '-infinity'
   where l.worker = p_worker and not l.token = any (p_known);
  get diagnostics v_n = row_count;
  if v_n > 0 then
    perform postrider.reap();
  end if;
  return v_n;
end $$;
