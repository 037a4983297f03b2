-- What operators do: dead letters, replay, archive, purge. Each function is one short transaction; the
-- caller repeats it with the position it got back. Whoever puts an old message back into the queue holds
-- `retention_lock` shared, whoever removes messages holds it alone: so no message can be removed between
-- the look at its state and the act.

create or replace function postrider.refuse_act(problem text) returns void
language plpgsql as $$
begin
  raise exception using errcode = 'PR002', message = problem, hint = 'Nothing was changed.';
end $$;

-- A misspelt condition would otherwise select everything.
create or replace function postrider.check_filter(p_filter jsonb, p_known text[]) returns void
language plpgsql as $$
declare
  v_unknown text;
begin
  select f.name into v_unknown from jsonb_object_keys(p_filter) f(name) where not f.name = any (p_known) limit 1;
  if v_unknown is not null then
    perform postrider.refuse_act(format('unknown condition %L; known are %s', v_unknown,
      array_to_string(p_known, ', ')));
  end if;
  if p_filter ? 'key' and not p_filter ? 'namespace' then
    perform postrider.refuse_act('a key is unique only within its namespace; give the namespace as well');
  end if;
end $$;

-- Writes the audit row of an act, or counts up that of an act in several steps. Its next step has the same actor, login,
-- action and detail; else it is another act, whatever number its caller gives.
create or replace function postrider.record_act(p_audit bigint, p_actor text, p_action text, p_detail jsonb, p_count bigint)
returns bigint
language plpgsql as $$
declare
  v_id bigint;
begin
  if coalesce(btrim(p_actor), '') = '' then
    perform postrider.refuse_act('actor is missing; every act is recorded with who did it');
  end if;
  update postrider.audit a set count = a.count + p_count
   where a.id = p_audit and a.actor = p_actor and a.login = session_user and a.action = p_action
     and a.detail = p_detail returning a.id into v_id;
  if v_id is null then
    insert into postrider.audit (actor, action, detail, count)
    values (p_actor, p_action, p_detail, p_count) returning id into v_id;
  end if;
  return v_id;
end $$;

-- For acts that put messages in front of others of their key: no claim may be looking at that key meanwhile. Running
-- claims are waited for, and new ones wait; both are short. One that is not, in a session left open, ends the wait.
create or replace function postrider.exclude_claims() returns void
language plpgsql set lock_timeout = '2s' as $$
begin
  perform postrider.check_isolation();
  lock table postrider.claim_lock in share row exclusive mode;
exception when lock_not_available then
  raise exception using errcode = 'lock_not_available',
    message = 'a claim has been open for longer than 2 s, so nothing can be put in front of its messages',
    hint = 'Nothing was changed. Try again, or end the session that holds the lock on postrider.claim_lock (pg_locks).';
end $$;

create or replace function postrider.routes_of(p_filter jsonb) returns int[]
language sql stable
return case when p_filter ?| array['namespace', 'topic', 'subscription'] then array(
  select r.id from postrider.route r
   where r.namespace = coalesce(p_filter ->> 'namespace', r.namespace)
     and r.topic = coalesce(p_filter ->> 'topic', r.topic)
     and r.subscription = coalesce(case p_filter ->> 'subscription' when 'default' then '' else p_filter ->> 'subscription' end, r.subscription)) end;

-- The key's number; 0, which no key has, if there is no such key; null without the condition.
create or replace function postrider.key_of(p_filter jsonb) returns bigint
language sql stable
return case when p_filter ? 'key' then coalesce((
  select k.id from postrider.ordering_key k
   where k.namespace = p_filter ->> 'namespace' and k.key = p_filter ->> 'key' and k.generation = 0), 0) end;

-- Columns rather than the row: a whole row would have its payload read.
create or replace function postrider.matches(
  p_filter jsonb, p_routes int[], p_key bigint, route int, key_id bigint, tenant text,
  aggregate_type text, aggregate_id text, event_type text)
returns boolean language sql immutable parallel safe
return (p_routes is null or route = any (p_routes))
  and (p_key is null or coalesce(key_id = p_key, false))
  and coalesce(tenant = p_filter ->> 'tenant', not p_filter ? 'tenant')
  and coalesce(aggregate_type = p_filter ->> 'aggregate_type', not p_filter ? 'aggregate_type')
  and coalesce(aggregate_id = p_filter ->> 'aggregate_id', not p_filter ? 'aggregate_id')
  and coalesce(event_type = p_filter ->> 'event_type', not p_filter ? 'event_type');

-- Those of the given messages that are neither pending, processing, blocked nor dead and unresolved. A set
-- at a time: a function called for each row would cost more than its two probes. Bounds as well as ids,
-- here and below: they let the server leave out the other partitions before it opens them. And `limit 1`
-- in place of `exists`: it leaves the planner, whose statistics of the queue are always wrong, no choice
-- but a probe for each message.
create or replace function postrider.settled(p_ids uuid[]) returns setof uuid
language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
  select m.id from postrider.message m
    left join lateral (
      select true as queued from postrider.queue_of(m.id, m.route, m.key_id, m.sequence, m.tenant) limit 1) q on true
    left join lateral (
      select true as dead from postrider.dead_letter d
       where d.message_id = m.id and d.resolved_at is null limit 1) d on true
   where m.id = any (p_ids)
     and m.id >= (select u from unnest(p_ids) u order by u limit 1)
     and m.id <= (select u from unnest(p_ids) u order by u desc limit 1)
     and q.queued is null and d.dead is null
$$;
