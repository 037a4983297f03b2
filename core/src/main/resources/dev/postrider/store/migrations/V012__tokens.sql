-- Who may use the server. A token's secret is 256 random bits, of which only the SHA-256 is kept: there
-- is nothing to guess, so nothing to slow down. Names are unique among tokens in use, since acts are
-- recorded under them.
create table postrider.token (
  id          bigint generated always as identity primary key,
  name        text not null,
  hash        bytea not null check (octet_length(hash) = 32),
  role        text check (role in ('viewer', 'operator', 'admin')),
  permissions text[] not null default '{}',
  tenant      text,                    -- null: all tenants
  namespace   text,                    -- null: all namespaces
  created_by  text not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,
  revoked_by  text,
  revoked_at  timestamptz
);
create unique index token_in_use on postrider.token (name) where revoked_at is null;

create function postrider.token_create(
  p_actor text, p_name text, p_hash bytea, p_role text, p_permissions text[], p_tenant text, p_namespace text,
  p_seconds bigint)
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_id bigint;
begin
  insert into postrider.token (name, hash, role, permissions, tenant, namespace, created_by, expires_at)
  values (p_name, p_hash, p_role, p_permissions, p_tenant, p_namespace, p_actor,
          now() + p_seconds * interval '1 second')
  on conflict (name) where revoked_at is null do nothing
  returning id into v_id;
  if v_id is null then
    perform postrider.refuse_act(format('a token named %L is in use; revoke it first, or take another name', p_name));
  end if;
  perform postrider.record_act(null, p_actor, 'token.create', jsonb_strip_nulls(jsonb_build_object(
    'id', v_id, 'name', p_name, 'role', p_role, 'permissions', p_permissions, 'tenant', p_tenant,
    'namespace', p_namespace)), null);
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

-- The token of this number, if it is good by the database's clock. Whether the secret is right is for the
-- caller to see, in constant time.
create function postrider.token_find(p_id bigint) returns setof postrider.token
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select * from postrider.token t
   where t.id = p_id and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
$$;

-- All tokens, also those that are no longer good, without their hashes.
create function postrider.token_list(p_after bigint, p_limit int)
returns table (id bigint, name text, role text, permissions text[], tenant text, namespace text,
  created_by text, created_at timestamptz, expires_at timestamptz, revoked_by text, revoked_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select t.id, t.name, t.role, t.permissions, t.tenant, t.namespace, t.created_by, t.created_at, t.expires_at,
         t.revoked_by, t.revoked_at
    from postrider.token t where t.id > p_after order by t.id limit p_limit
$$;
