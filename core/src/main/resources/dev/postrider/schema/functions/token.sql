create or replace function postrider.token_create(
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
create or replace function postrider.token_revoke(p_actor text, p_id bigint) returns boolean
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
create or replace function postrider.token_find(p_id bigint, p_hash bytea)
returns table (id bigint, name text, role text, permissions text[], tenant text, namespace text, topics text[],
  created_by text, created_at timestamptz, expires_at timestamptz, revoked_by text, revoked_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select t.id, t.name, t.role, t.permissions, t.tenant, t.namespace, t.topics, t.created_by, t.created_at, t.expires_at,
         t.revoked_by, t.revoked_at
    from postrider.token t
   where t.id = p_id and sha256(t.hash) = sha256(p_hash) and t.revoked_at is null
     and (t.expires_at is null or t.expires_at > now())
$$;

-- Four bytes for each good token, of the newest 10,000: with them a server recognizes guesses without asking for each.
-- They do not help to guess a secret, which has 256 random bits.
create or replace function postrider.token_marks() returns table (id bigint, mark bytea)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select t.id, substr(sha256(t.hash), 1, 4)
    from postrider.token t
   where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
   order by t.id desc limit 10000
$$;

-- All tokens, also those that are no longer good, without their hashes.
create or replace function postrider.token_list(p_after bigint, p_limit int)
returns table (id bigint, name text, role text, permissions text[], tenant text, namespace text, topics text[],
  created_by text, created_at timestamptz, expires_at timestamptz, revoked_by text, revoked_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select t.id, t.name, t.role, t.permissions, t.tenant, t.namespace, t.topics, t.created_by, t.created_at, t.expires_at,
         t.revoked_by, t.revoked_at
    from postrider.token t where t.id > p_after order by t.id limit p_limit
$$;
