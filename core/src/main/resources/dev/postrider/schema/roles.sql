-- Roles that cannot log in. A service's own login is made a member of the one it needs. Roles belong to the whole
-- cluster: those that exist are used as they are. grants.sql says what each may do.
do $roles$
declare
  v_role pg_catalog.text;
begin
  lock table postrider.migration in share row exclusive mode;
  foreach v_role in array '{ROLE_producer, ROLE_relay, ROLE_operator, ROLE_reader, ROLE_server}'::pg_catalog.text[] loop
    begin
      if not exists (select from pg_catalog.pg_roles where rolname operator(pg_catalog.=) v_role::pg_catalog.name) then
        execute pg_catalog.format('create role %I nologin', v_role);
      end if;
    exception when duplicate_object or unique_violation then
      null; -- another database of the cluster has just made it
    end;
    execute pg_catalog.format('revoke all on schema postrider from %I', v_role);
    execute pg_catalog.format('grant usage on schema postrider to %I', v_role);
  end loop;
end $roles$;

