-- Pauses of destinations and topics.

-- Pauses a destination by its name, or a topic as namespace/topic. Returns whether it was not paused before. Refuses a
-- destination that no relay knows, unless forced.
create or replace function postrider.pause_on(p_actor text, p_kind text, p_name text, p_force boolean default false) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if p_kind is null or p_kind not in ('destination', 'topic', 'subscription') then
    perform postrider.refuse_act(format('kind must be destination, topic or subscription, got %s', p_kind));
  elsif coalesce(btrim(p_name), '') = '' then
    perform postrider.refuse_act('name is missing; say what to pause');
  elsif p_kind = 'topic' and position('/' in p_name) < 2 then
    perform postrider.refuse_act(format('a topic is named namespace/topic, got %s', p_name));
  elsif p_kind = 'subscription' and not exists (
          select from postrider.subscription s
           where p_name = replace(replace(s.namespace, '%', '%25'), '/', '%2F') || '/' || s.topic || '#' || case s.name when '' then 'default' else s.name end) then
    perform postrider.refuse_act(format('there is no subscription %s; one is named namespace/topic#subscription', p_name));
  end if;
  perform postrider.record_act(null, p_actor, 'pause', jsonb_build_object('kind', p_kind, 'name', p_name), null);
  if p_kind = 'destination' and not p_force
    and not exists (select from postrider.pause p where p.kind = p_kind and p.name = p_name) then
    perform postrider.check_destination(p_name);
  end if;
  insert into postrider.pause (kind, name, paused_by) values (p_kind, p_name, p_actor) on conflict do nothing;
  return found;
end $$;

-- Resumes it and returns whether it was paused. Sleeping relays are woken.
create or replace function postrider.pause_off(p_actor text, p_kind text, p_name text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  delete from postrider.pause p where p.kind = p_kind and p.name = p_name;
  if not found then
    return false;
  end if;
  perform postrider.record_act(null, p_actor, 'resume', jsonb_build_object('kind', p_kind, 'name', p_name), null);
  perform pg_notify('postrider', 'pause');
  return true;
end $$;

-- Refuses a destination that no relay knows, because it is probably a typing error.
create or replace function postrider.check_destination(p_name text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_known text;
begin
  if exists (select from postrider.relay_destination d where d.name = p_name) then
    return;
  end if;
  select string_agg(n.name, ', ') into v_known from (
    select distinct d.name from postrider.relay_destination d order by 1 limit 20) n;
  perform postrider.refuse_act(format(
    'no relay knows a destination %s; %s. To pause it before its first relay starts, force it: --force, over HTTP '
    || '"force": true', p_name,
    coalesce('known are: ' || v_known, 'no relay has run within the last day, so none is known')));
end $$;
