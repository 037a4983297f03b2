-- The next messages that match, the newest first, by the narrowest index the conditions allow: key,
-- aggregate, tenant, or else the log itself. Looks at no more than 5,000, so that a rare condition never
-- makes a long statement: `done` is false while there is more to look at before p_before.
create or replace function postrider.message_scan(
  p_filter jsonb, p_limit int, inout p_before uuid, out hits uuid[], out done boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set jit = off as $$
declare
  v_key    bigint := postrider.key_of(p_filter);
  v_path   text := case
    when v_key is not null then 'm.key_id = $3 and m.sequence < $7'
    when p_filter ? 'aggregate_id'
      then 'm.aggregate_type = $4 ->> ''aggregate_type'' and m.aggregate_id = $4 ->> ''aggregate_id'' and m.id < $1'
    when p_filter ? 'tenant' then 'm.tenant = $4 ->> ''tenant'' and m.id < $1'
    else 'm.id < $1' end;
begin
  perform postrider.check_filter(p_filter, array['namespace', 'topic', 'key', 'tenant', 'aggregate_type',
    'aggregate_id', 'event_type', 'from', 'to']);
  if p_filter ? 'aggregate_id' and not p_filter ? 'aggregate_type' then
    perform postrider.refuse_act('an aggregate_id goes with its aggregate_type; give both');
  end if;
  execute format($q$
    with seen as materialized (
      select m.id, m.route, m.key_id, m.tenant, m.aggregate_type, m.aggregate_id, m.event_type,
             row_number() over (order by %2$s desc) as place
        from (select * from postrider.message m
               where %1$s and m.id >= $2 and m.id < $8 order by %2$s desc limit 5000) m),
    hits as materialized (
      select s.id, s.place from seen s
       where postrider.matches($4, $5, $3, s.route, s.key_id, s.tenant, s.aggregate_type, s.aggregate_id,
               s.event_type)
       order by s.place limit $6)
    select array(select h.id from hits h order by h.place), e.id,
           (select count(*) from hits) < $6 and (select count(*) from seen) < 5000
      from (select 1) one left join lateral (
        select s.id from seen s
         where (select count(*) from hits) < $6 or s.place = (select max(h.place) from hits h)
         order by s.place desc limit 1) e on true $q$,
    v_path, case when v_key is not null then 'm.sequence' else 'm.id' end)
    into hits, p_before, done
    using coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
      coalesce(postrider.id_floor((p_filter ->> 'from')::timestamptz), '00000000-0000-0000-0000-000000000000'),
      v_key, p_filter, postrider.routes_of(p_filter), p_limit,
      coalesce((select m.sequence from postrider.message m where m.id = p_before), 9223372036854775807),
      coalesce(postrider.id_floor((p_filter ->> 'to')::timestamptz), 'ffffffff-ffff-ffff-ffff-ffffffffffff');
end $$;

-- What the server also shows: how many events were made in each interval, and what their attempts came to.
-- An interval is looked at for no more than p_most messages, by the narrowest index there is for the
-- conditions; one with more is not complete. Attempts are probed by message; a bound on their time lets
-- the server leave out the partitions before it.
create or replace function postrider.event_counts(
  p_filter jsonb, p_from timestamptz, p_to timestamptz, p_width interval, p_most int)
returns table (
  starts_at timestamptz, events bigint, delivered bigint, retried bigint, failed bigint, complete boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off as $$
begin
  perform postrider.check_filter(p_filter, array['namespace', 'topic', 'tenant', 'aggregate_type', 'aggregate_id',
    'event_type']);
  if p_filter ? 'aggregate_id' and not p_filter ? 'aggregate_type' then
    perform postrider.refuse_act('an aggregate_id goes with its aggregate_type; give both');
  end if;
  return query execute format($q$
    select b.at, c.events, c.delivered::bigint, c.retried::bigint, c.failed::bigint, c.looked <= $6
      from generate_series($3, $4 - interval '1 microsecond', $5) b(at)
     cross join lateral (
       select count(*) filter (where s.hit) as events, count(*) as looked,
              coalesce(sum(a.delivered), 0) as delivered, coalesce(sum(a.retried), 0) as retried,
              coalesce(sum(a.failed), 0) as failed
         from (select m.id, postrider.matches($1, $2, null, m.route, m.key_id, m.tenant, m.aggregate_type,
                        m.aggregate_id, m.event_type) as hit
                 from postrider.message m
                where %s m.id >= postrider.id_floor(b.at) and m.id < postrider.id_floor(least(b.at + $5, $4))
                order by m.id limit $6 + 1) s
         left join lateral (
           select bool_or(a.state = 1)::int as delivered, count(*) filter (where a.state = 2) as retried,
                  count(*) filter (where a.state = 3) as failed
             from postrider.attempt a
            where s.hit and a.message_id = s.id and a.finished_at >= b.at - interval '10 minutes') a on true) c
     order by b.at $q$,
    case when p_filter ? 'aggregate_id'
           then 'm.aggregate_type = $1 ->> ''aggregate_type'' and m.aggregate_id = $1 ->> ''aggregate_id'' and'
         when p_filter ? 'tenant' then 'm.tenant = $1 ->> ''tenant'' and'
         else '' end)
    using p_filter, postrider.routes_of(p_filter), p_from, p_to, p_width, p_most;
end $$;
