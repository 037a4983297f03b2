create or replace function postrider.refuse(field text, problem text) returns void
language plpgsql as $$
begin
  raise exception using errcode = 'PR001', column = field, message = format('%s %s', field, problem),
    hint = 'Nothing was written for this message. Correct the field and enqueue again.';
end $$;

-- Raised if the dedupe key was found, but retention removed it meanwhile.
create or replace function postrider.dedupe_vanished() returns void
language plpgsql as $$
begin
  raise exception using errcode = 'serialization_failure',
    message = 'a dedupe key reached the end of its retention during the call',
    hint = 'Nothing was written. Repeat the transaction.';
end $$;

create or replace function postrider.check_headers(headers jsonb) returns void language plpgsql as $$
declare
  h record;
  n int := 0;
begin
  if jsonb_typeof(headers) <> 'object' then
    perform postrider.refuse('headers', 'must be a JSON object of strings, got ' || jsonb_typeof(headers));
  end if;
  for h in select k, v from jsonb_each(headers) as e(k, v) loop
    n := n + 1;
    if n > 64 then
      perform postrider.refuse('headers', 'has more than 64 entries; at most 64 are allowed');
    elsif jsonb_typeof(h.v) <> 'string' then
      perform postrider.refuse('headers',
        format('must hold strings only; %s is of type %s', quote_literal(left(h.k, 100)), jsonb_typeof(h.v)));
    elsif length(h.k) not between 1 and 200 then
      perform postrider.refuse('headers', format('has a name of %s characters; 1 to 200 are allowed', length(h.k)));
    elsif length(h.v #>> '{}') > 4096 then
      perform postrider.refuse('headers', format('has a value of %s characters under %s; at most 4096 are allowed',
        length(h.v #>> '{}'), quote_literal(h.k)));
    end if;
  end loop;
end $$;

-- Whether headers of a usual size need no full check. Most messages carry a trace, and the full check costs a quarter of
-- an enqueue. In plpgsql, because the caller would set an SQL function up in every call, even without headers.
create or replace function postrider.headers_fit(headers jsonb) returns boolean
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_typeof(headers) = 'object' and octet_length(headers::text) <= 512 -- so there are fewer than 64
    and not jsonb_path_exists(headers,
      '$.keyvalue() ? (@.value.type() <> "string" || @.key like_regex "^(.{201}|$)" flag "s")');
end $$;

-- Creates a topic. Concurrent transactions do not see each other's topics, so together they can exceed the limits by the
-- topics that they create. A lock would be held until the producer's commit: producers of new topics would wait for each
-- other, and could deadlock on the keys that they hold.
create or replace function postrider.intern_route(namespace text, topic text) returns int
language plpgsql as $$
#variable_conflict use_column
declare
  found_id int;
  v_most   int := (select e.max_topics from postrider.engine e);
  v_spaces int := (select e.max_namespaces from postrider.engine e);
begin
  if not exists (select from postrider.route r where r.namespace = intern_route.namespace) and (
       -- Skips from namespace to namespace by the index, so the number of topics does not matter.
       with recursive known(name) as (
         (select r.namespace from postrider.route r order by r.namespace limit 1)
         union all
         select (select r.namespace from postrider.route r where r.namespace > k.name order by r.namespace limit 1)
           from known k where k.name is not null)
       select count(*) from (select from known k where k.name is not null limit v_spaces) n) >= v_spaces then
    perform postrider.refuse('namespace', format('is new, and there are %s namespaces; at most %s are allowed '
      || '(postrider.engine.max_namespaces)', v_spaces, v_spaces));
  end if;
  if (select count(*) from (
        select from postrider.route r
         where r.namespace = intern_route.namespace and r.subscription = '' limit v_most) t) >= v_most then
    perform postrider.refuse('topic', format('is new, and the namespace has %s topics; at most %s are allowed '
      || '(postrider.engine.max_topics)', v_most, v_most));
  end if;
  insert into postrider.route (namespace, topic) values (intern_route.namespace, intern_route.topic)
    on conflict do nothing returning id into found_id;
  if found_id is null then
    select id into found_id from postrider.route r
     where r.namespace = intern_route.namespace and r.topic = intern_route.topic and r.subscription = '';
  end if;
  return found_id;
end $$;

-- Whether an optional field is empty, too long, or lacks the one it belongs to. The planner inlines it.
create or replace function postrider.has_invalid_field(
  key text, dedupe_key text, tenant text, aggregate_type text, aggregate_id text, event_type text)
returns boolean language sql immutable parallel safe
return coalesce(greatest(length(key), length(dedupe_key)) > 400
    or greatest(length(tenant), length(aggregate_type), length(aggregate_id), length(event_type)) > 200
    or least(key, dedupe_key, tenant, aggregate_type, aggregate_id, event_type) = ''
    or (aggregate_id is not null and aggregate_type is null), false);

-- Whether a JSON message needs no full check: no field is empty, long, or lacks the one it belongs to. Up to 4096 bytes
-- are always allowed, see the table engine. The planner inlines it.
create or replace function postrider.fits_fast_path(
  payload text, key text, dedupe_key text, tenant text, aggregate_type text, aggregate_id text, event_type text,
  headers jsonb)
returns boolean language sql stable parallel safe
return octet_length(payload) <= 4096 and postrider.is_json(payload)
  and octet_length(concat(key, dedupe_key, tenant, aggregate_type, aggregate_id, event_type)) <= 200
  and coalesce(least(key, dedupe_key, tenant, aggregate_type, aggregate_id, event_type), '-') <> ''
  and (aggregate_id is null or aggregate_type is not null)
  and postrider.headers_fit(headers) is not false;

-- The full checks of enqueue, called if its cheap test failed. Raises an error with the field's name and what is
-- allowed. Returns whether the payload is JSON.
create or replace function postrider.check_message(
  namespace text, topic text, payload text, key text, dedupe_key text, tenant text, aggregate_type text,
  aggregate_id text, event_type text, headers jsonb, content_type text, not_before timestamptz, id uuid,
  payload_bytes bytea, max_payload_bytes int)
returns boolean language plpgsql as $$
declare
  f      record;
  v_size int := coalesce(octet_length(payload), octet_length(payload_bytes));
  v_json boolean := postrider.declares_json(content_type);
begin
  if not coalesce(length(namespace) between 1 and 100 and length(topic) between 1 and 200
       and coalesce(length(content_type), 1) between 1 and 200
       and not postrider.has_invalid_field(key, dedupe_key, tenant, aggregate_type, aggregate_id, event_type), false) then
    for f in select * from (values
        ('namespace', namespace, 100, true), ('topic', topic, 200, true), ('key', key, 400, false),
        ('dedupe_key', dedupe_key, 400, false), ('tenant', tenant, 200, false),
        ('aggregate_type', aggregate_type, 200, false), ('aggregate_id', aggregate_id, 200, false),
        ('event_type', event_type, 200, false), ('content_type', content_type, 200, false))
        as t(name, value, most, mandatory)
    loop
      if f.value is null then
        if f.mandatory then
          perform postrider.refuse(f.name, 'is missing; it is mandatory');
        end if;
      elsif f.value = '' then
        perform postrider.refuse(f.name, 'is empty; give 1 to ' || f.most || ' characters'
          || case when f.mandatory then '' else ' or leave it out' end);
      elsif length(f.value) > f.most then
        perform postrider.refuse(f.name,
          format('has %s characters; at most %s are allowed', length(f.value), f.most));
      end if;
    end loop;
  end if;
  if v_size is null then
    perform postrider.refuse('payload', 'is missing; it is mandatory');
  elsif payload is not null and payload_bytes is not null then
    perform postrider.refuse('payload', 'was given twice; give payload or payload_bytes, not both');
  elsif v_size > max_payload_bytes then
    perform postrider.refuse('payload',
      format('has %s bytes; at most %s are allowed', v_size, max_payload_bytes));
  elsif v_json and not coalesce(postrider.is_json(payload), postrider.is_json(payload_bytes)) then
    perform postrider.refuse('payload', 'is not valid JSON; send JSON or give another content_type');
  end if;
  if aggregate_id is not null and aggregate_type is null then
    perform postrider.refuse('aggregate_type', 'is missing; it goes with aggregate_id');
  end if;
  if postrider.headers_fit(headers) is false then
    perform postrider.check_headers(headers);
  end if;
  if not_before not between now() - interval '1 day' and now() + interval '366 days' then
    perform postrider.refuse('not_before',
      'must lie between one day ago and 366 days from now, got ' || not_before);
  end if;
  if substr(id::text, 15, 1) <> '7'
     or postrider.id_time(id) not between now() - interval '1 day' and now() + interval '5 minutes' then
    perform postrider.refuse('id', 'must be a UUIDv7 of at most one day ago, got ' || id);
  end if;
  return v_json;
end $$;

-- At REPEATABLE READ the topic is read as of the transaction's begin. If it got its first named subscription since, the
-- message would not be fanned out, so this raises a serialization failure.
create or replace function postrider.check_snapshot(p_route int) returns void
language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform from postrider.route r where r.id = p_route for share;
  end if;
end $$;

-- Enqueues a message. plpgsql sets up each expression and statement once per transaction, which costs more than running
-- it. So one expression asks for all fields that most messages lack.
create or replace function postrider.enqueue(
  namespace      text,
  topic          text,
  payload        text default null,
  key            text default null,
  dedupe_key     text default null,
  tenant         text default null,
  aggregate_type text default null,
  aggregate_id   text default null,
  event_type     text default null,
  headers        jsonb default null,
  content_type   text default null,
  not_before     timestamptz default null,
  id             uuid default null,
  payload_bytes  bytea default null)
returns postrider.enqueued
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- A sequential scan of a small table at SERIALIZABLE conflicts with the producers of all other keys.
set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_id    uuid;
  v_route int;
  v_fans_out boolean;
  v_key   bigint;
  v_seq   bigint;
  v_lane  int := postrider.lane_of(tenant);
  v_due   timestamptz;
  v_json  boolean;        -- true at first only if all the rest needs no closer look, too
  v_serializable boolean := false;
begin
  select r.id, r.fans_out, coalesce(enqueue.id, postrider.new_id()),
         num_nonnulls(content_type, not_before, enqueue.id, payload_bytes) = 0
         and current_setting('transaction_isolation') = 'read committed' and postrider.fits_fast_path(
           payload, key, dedupe_key, tenant, aggregate_type, aggregate_id, event_type, headers)
    into v_route, v_fans_out, v_id, v_json from postrider.route r
   where r.namespace = enqueue.namespace and r.topic = enqueue.topic and r.subscription = '';
  if v_json is not true then
    v_serializable := current_setting('transaction_isolation') = 'serializable';
    v_json := postrider.check_message(namespace, topic, payload, key, dedupe_key, tenant, aggregate_type,
      aggregate_id, event_type, headers, content_type, not_before, enqueue.id, payload_bytes,
      (select e.max_payload_bytes from postrider.engine e));
    if v_route is null then
      v_route := postrider.intern_route(namespace, topic);
      v_id := coalesce(enqueue.id, postrider.new_id());
    elsif not v_fans_out then
      perform postrider.check_snapshot(v_route);
    end if;
    if not_before > now() then
      v_due := not_before;
    end if;
  end if;

  if dedupe_key is not null then
    -- Waits for a concurrent first enqueue of the same dedupe key. A duplicate takes no sequence number.
    insert into postrider.dedupe (route, dedupe_key, message_id)
    values (v_route, enqueue.dedupe_key, v_id) on conflict do nothing;
    if not found then
      select d.message_id, coalesce(m.sequence, d.sequence) into v_id, v_seq
        from postrider.dedupe d left join postrider.message m on m.id = d.message_id
       where d.route = v_route and d.dedupe_key = enqueue.dedupe_key;
      if not found then
        perform postrider.dedupe_vanished();
      end if;
      return row(v_id, v_seq, true)::postrider.enqueued;
    end if;
  end if;
  if key is not null then
    -- The same as number_key(), inline for most messages.
    if not v_serializable then
      update postrider.ordering_key k set last_sequence = last_sequence + 1, used_at = now()
       where k.namespace = enqueue.namespace and k.key = enqueue.key and k.last_sequence % 64 < 63
         and k.generation = (
           select l.generation from postrider.ordering_key l
            where l.namespace = enqueue.namespace and l.key = enqueue.key order by l.generation desc limit 1)
       returning k.id, k.last_sequence into v_key, v_seq;
    end if;
    if v_key is null then
      select n.key_id, n.sequence into v_key, v_seq from postrider.number_key(namespace, key, 1) n;
    end if;
  end if;

  if v_due is not null then
    v_lane := -1 - v_lane;
  end if;

  insert into postrider.message (id, created_at, not_before, key_id, sequence, route, is_json, tenant,
    aggregate_type, aggregate_id, event_type, ordering_key, dedupe_key, content_type, headers, payload)
  values (v_id, now(), enqueue.not_before, v_key, v_seq, v_route, v_json, enqueue.tenant,
    enqueue.aggregate_type, enqueue.aggregate_id, enqueue.event_type, enqueue.key, enqueue.dedupe_key,
    enqueue.content_type, enqueue.headers, coalesce(payload_bytes, convert_to(payload, 'UTF8')));
  insert into postrider.queue (id, key_id, sequence, due_at, route, size, lane)
  values (v_id, v_key, coalesce(v_seq, postrider.id_number(v_id)), v_due, case when v_fans_out then -v_route else v_route end,
    coalesce(octet_length(payload_bytes), octet_length(payload)) + coalesce(pg_column_size(headers), 0),
    v_lane);

  -- Rings only if a relay sleeps: NOTIFY in every transaction would serialize all commits.
  if postrider.bell(v_route) = 1 and v_due is null then
    perform postrider.ring(v_route);
  end if;
  return row(v_id, v_seq, false)::postrider.enqueued;
end $$;
