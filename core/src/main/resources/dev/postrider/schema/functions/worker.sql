-- The number of a worker. One that names an instance, as relays do, never gets the number of another that still runs:
-- it takes over that of one that stopped, or was not seen for an hour and holds nothing.
create or replace function postrider.worker_id(name text, instance text default '') returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_id int;
begin
  update postrider.worker w set seen_at = now(), stopped_at = null
   where w.name = worker_id.name and w.instance = worker_id.instance returning w.id into v_id;
  if v_id is null then
    update postrider.worker w
       set instance = worker_id.instance, started_at = now(), seen_at = now(), stopped_at = null
     where w.id = (
       select o.id from postrider.worker o
        where o.name = worker_id.name and o.instance <> '' and worker_id.instance <> ''
          and (o.stopped_at is not null or o.seen_at < now() - interval '1 hour')
          and not exists (select from postrider.lease l where l.worker = o.id)
        order by o.id limit 1 for update skip locked)
    returning w.id into v_id;
  end if;
  if v_id is null then
    insert into postrider.worker as w (name, instance) values (worker_id.name, worker_id.instance)
    on conflict (name, instance) do update set seen_at = now(), stopped_at = null
    returning w.id into v_id;
  end if;
  return v_id;
end $$;

-- Workers that live say so now and then: one that was killed cannot say that it stopped.
create or replace function postrider.workers_seen(p_workers int[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update postrider.worker w set seen_at = now() where w.id = any (p_workers) and w.stopped_at is null
$$;

create or replace function postrider.worker_stopped(p_worker int) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update postrider.worker set seen_at = now(), stopped_at = now() where id = p_worker;
$$;
