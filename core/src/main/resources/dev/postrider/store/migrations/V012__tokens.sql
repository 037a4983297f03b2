-- Who may use the server. A token's secret is 256 random bits, of which only the SHA-256 is kept: there
-- is nothing to guess, so nothing to slow down. Names are unique among tokens in use, since acts are
-- recorded under them.
create table postrider.token (
  id          bigint generated always as identity primary key,
  name        text collate "C" not null,
  hash        bytea not null check (octet_length(hash) = 32),
  role        text check (role in ('viewer', 'operator', 'admin')),
  permissions text[] not null default '{}',
  tenant      text,                    -- null: all tenants
  namespace   text,                    -- null: all namespaces
  topics      text[] not null default '{}' check (topics = '{}' or namespace is not null), -- of it; empty: all
  created_by  text not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,
  revoked_by  text,
  revoked_at  timestamptz
);
create unique index token_in_use on postrider.token (name) where revoked_at is null;

create function postrider.token_create(
  p_actor text, p_name text, p_hash bytea, p_role text, p_permissions text[], p_tenant text, p_namespace text,
  p_topics text[], p_seconds bigint)
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_id bigint;
begin
  insert into postrider.token (name, hash, role, permissions, tenant, namespace, topics, created_by, expires_at)
  values (p_name, p_hash, p_role, p_permissions, p_tenant, p_namespace, p_topics, p_actor,
          now() + p_seconds * interval '1 second')
  on conflict (name) where revoked_at is null do nothing
  returning id into v_id;
  if v_id is null then
    perform postrider.refuse_act(format('a token named %L is in use; revoke it first, or take another name', p_name));
  end if;
  perform postrider.record_act(null, p_actor, 'token.create', jsonb_strip_nulls(jsonb_build_object(
    'id', v_id, 'name', p_name, 'role', p_role, 'permissions', p_permissions, 'tenant', p_tenant,
    'namespace', p_namespace, 'topics', nullif(p_topics, '{}'))), null);
  return v_id;
end $$;

-- Says whether it was in use.
create function postrider.token_revoke(p_actor text, p_id bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_name text;
begin
  update postrider.token t set revoked_by = p_actor, revoked_at = now()
   where t.id = p_id and t.revoked_at is null returning t.name into v_name;
  if v_name is null then
    return false;
  end if;
  perform postrider.record_act(null, p_actor, 'token.revoke',
    jsonb_build_object('id', p_id, 'name', v_name), null);
  return true;
end $$;

-- The token of this number, if its secret has this hash and it is good by the database's clock. The hash itself never
-- leaves the database, so that relays may check who reads their metrics. Hashing both once more makes the time of the
-- comparison say nothing about the stored hash.
create function postrider.token_find(p_id bigint, p_hash bytea)
returns table (id bigint, name text, role text, permissions text[], tenant text, namespace text, topics text[],
  created_by text, created_at timestamptz, expires_at timestamptz, revoked_by text, revoked_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select t.id, t.name, t.role, t.permissions, t.tenant, t.namespace, t.topics, t.created_by, t.created_at, t.expires_at,
         t.revoked_by, t.revoked_at
    from postrider.token t
   where t.id = p_id and sha256(t.hash) = sha256(p_hash) and t.revoked_at is null
     and (t.expires_at is null or t.expires_at > now())
$$;

-- All tokens, also those that are no longer good, without their hashes.
create function postrider.token_list(p_after bigint, p_limit int)
returns table (id bigint, name text, role text, permissions text[], tenant text, namespace text, topics text[],
  created_by text, created_at timestamptz, expires_at timestamptz, revoked_by text, revoked_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select t.id, t.name, t.role, t.permissions, t.tenant, t.namespace, t.topics, t.created_by, t.created_at, t.expires_at,
         t.revoked_by, t.revoked_at
    from postrider.token t where t.id > p_after order by t.id limit p_limit
$$;

-- What the server also shows: how many events were made in each interval, and what their attempts came to.
-- An interval is looked at for no more than p_most messages, by the narrowest index there is for the
-- conditions; one with more is not complete. Attempts are probed by message; a bound on their time lets
-- the server leave out the partitions before it.
create function postrider.event_counts(
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
