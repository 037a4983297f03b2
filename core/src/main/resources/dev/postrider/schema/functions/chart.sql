-- Keeps a point for the console's charts, so that a server that starts has some. Of several servers the first one in
-- each ten seconds is taken.
create or replace function postrider.chart_put(p_point double precision[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into postrider.chart_point as c (slot, at, point)
  values ((floor(extract(epoch from now()) / 10)::bigint % 180)::smallint, now(), p_point)
  on conflict (slot) do update set at = excluded.at, point = excluded.point
   where c.at < now() - interval '1 minute'
$$;
