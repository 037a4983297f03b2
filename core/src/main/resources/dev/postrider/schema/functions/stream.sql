-- Appends the messages in the order given and says their positions; one that is not in the log is left out.
-- The lock lasts until the transaction is visible to others, so the next one numbers on from what it
-- sees: position order is commit order, and a rollback leaves no gap. The newest row is never purged.
create or replace function postrider.stream_append(p_ids uuid[], p_deliveries smallint[])
returns table (id uuid, event_position bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  v_last bigint;
begin
  perform postrider.check_isolation();
  lock table postrider.stream_lock in share row exclusive mode;
  select coalesce(max(e.position), 0) into v_last from postrider.stream_event e;
  return query
  insert into postrider.stream_event (position, message_id, appended_at, occurred_at, route, size, delivery,
                                      tenant, aggregate_type, aggregate_id, event_type)
  select v_last + row_number() over (order by i.place), m.id, clock_timestamp(), m.created_at, m.route,
         octet_length(m.payload), i.delivery, m.tenant, m.aggregate_type, m.aggregate_id, m.event_type
    from unnest(p_ids, p_deliveries) with ordinality i(id, delivery, place)
   cross join lateral (select * from postrider.message m where m.id = i.id limit 1) m
  returning stream_event.message_id, stream_event.position;
  if found then
    perform pg_notify('postrider.stream', '');
  end if;
end $$;

-- Removes up to so many of the oldest events, of those that are older than the retention. p_from: where the
-- step before ended, so that none walks over what others removed.
create or replace function postrider.stream_purge(
  p_retention interval, p_most int, inout p_from bigint, out removed int, out done boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  v_until bigint;
  v_old   int;
begin
  perform postrider.check_retention('stream', p_retention);
  -- Up to the first that is young, although the clock may have gone back: what is left has no gap.
  with looked as materialized (
    select e.position, e.appended_at from postrider.stream_event e
     where e.position > p_from order by e.position limit p_most),
  old as (
    select l.position from looked l
     where l.position < (select max(e.position) from postrider.stream_event e)
       and l.position < coalesce(
         (select min(y.position) from looked y where y.appended_at >= now() - p_retention), l.position + 1))
  select max(o.position), count(*) into v_until, v_old from old o;
  delete from postrider.stream_event e where e.position > p_from and e.position <= v_until;
  get diagnostics removed = row_count;
  p_from := coalesce(v_until, p_from);
  done := v_old < p_most;
end $$;
