create type postrider.enqueued as (id uuid, sequence bigint, duplicate boolean);

-- What newer servers have built in, older ones get as functions of ours.
do $$
begin
  if current_setting('server_version_num')::int >= 180000 then
    create function postrider.new_id() returns uuid language sql volatile return uuidv7();
  else
    create function postrider.new_id() returns uuid language sql volatile
    return encode(
      set_bit(set_bit(
        overlay(uuid_send(gen_random_uuid())
          placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
          from 1 for 6), 52, 1), 53, 1), 'hex')::uuid;
  end if;
  if current_setting('server_version_num')::int >= 160000 then
    execute 'create function postrider.is_json(value text) returns boolean
             language sql immutable strict parallel safe return value is json';
  else
    create function postrider.is_json(value text) returns boolean
    language plpgsql immutable strict parallel safe as $f$
    begin
      perform value::json;
      return true;
    exception when others then
      return false;
    end $f$;
  end if;
end $$;

create function postrider.id_time(id uuid) returns timestamptz
language sql immutable strict parallel safe
return to_timestamp(('x' || substr(translate(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0);

-- The lowest id of an instant: range bounds for partitions and for searches by time.
create function postrider.id_floor(at timestamptz) returns uuid
language sql immutable strict parallel safe
return (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

create function postrider.refuse(field text, problem text) returns void
language plpgsql as $$
begin
  raise exception using errcode = 'PR001', column = field, message = format('%s %s', field, problem),
    hint = 'Nothing was written for this message. Correct the field and enqueue again.';
end $$;

create function postrider.check_headers(headers jsonb) returns void language plpgsql as $$
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
        format('must hold strings only; %s is a %s', quote_literal(left(h.k, 100)), jsonb_typeof(h.v)));
    elsif length(h.k) not between 1 and 200 then
      perform postrider.refuse('headers', format('has a name of %s characters; 1 to 200 are allowed', length(h.k)));
    elsif length(h.v #>> '{}') > 4096 then
      perform postrider.refuse('headers', format('has a value of %s characters under %s; at most 4096 are allowed',
        length(h.v #>> '{}'), quote_literal(h.k)));
    end if;
  end loop;
end $$;

create function postrider.intern_route(namespace text, topic text) returns int
language plpgsql as $$
#variable_conflict use_column
declare
  found_id int;
begin
  insert into postrider.route (namespace, topic) values (intern_route.namespace, intern_route.topic)
    on conflict do nothing returning id into found_id;
  if found_id is null then
    select id into found_id from postrider.route r
     where r.namespace = intern_route.namespace and r.topic = intern_route.topic;
  else
    -- A relay that knows its routes by heart must hear of a new one.
    perform pg_notify('postrider', 'route');
  end if;
  return found_id;
end $$;

-- The slow half of enqueue's checks, called only when the one cheap test there has failed or an optional
-- field asks for a closer look. Raises with the field's name and what was expected of it.
create function postrider.check_message(
  namespace text, topic text, payload text, key text, dedupe_key text, tenant text, aggregate_type text,
  aggregate_id text, event_type text, headers jsonb, content_type text, not_before timestamptz, id uuid,
  payload_bytes bytea, max_payload_bytes int)
returns void language plpgsql as $$
declare
  f      record;
  v_size int := coalesce(octet_length(payload), octet_length(payload_bytes));
begin
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
  if v_size is null then
    perform postrider.refuse('payload', 'is missing; it is mandatory');
  elsif payload is not null and payload_bytes is not null then
    perform postrider.refuse('payload', 'was given twice; give payload or payload_bytes, not both');
  elsif v_size > max_payload_bytes then
    perform postrider.refuse('payload',
      format('has %s bytes; at most %s are allowed', v_size, max_payload_bytes));
  elsif (content_type is null or content_type ~* '^application/([a-z0-9.+-]+[+])?json *(;|$)')
        and not postrider.is_json(coalesce(payload, convert_from(payload_bytes, 'UTF8'))) then
    perform postrider.refuse('payload', 'is not valid JSON; send JSON or give another content_type');
  end if;
  if aggregate_id is not null and aggregate_type is null then
    perform postrider.refuse('aggregate_type', 'is missing; it goes with aggregate_id');
  end if;
  if headers is not null then
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
end $$;

-- plpgsql sets every expression up anew in each transaction, which costs more than evaluating it: hence
-- few and large expressions here.
create function postrider.enqueue(
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
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_armed boolean;
  v_max   int;
  v_route int;
  v_key   bigint;
  v_seq   bigint;
  v_id    uuid;
begin
  select e.doorbell_armed, e.max_payload_bytes, r.id, coalesce(enqueue.id, postrider.new_id())
    into v_armed, v_max, v_route, v_id
    from postrider.engine e
    left join postrider.route r on r.namespace = enqueue.namespace and r.topic = enqueue.topic;

  -- A known route has a valid namespace and topic.
  if v_route is null or headers is not null or not_before is not null or enqueue.id is not null
     or payload is null or octet_length(payload) > v_max or payload_bytes is not null
     or content_type is not null or not postrider.is_json(payload)
     or length(key) not between 1 and 400 or length(dedupe_key) not between 1 and 400
     or length(tenant) not between 1 and 200 or length(event_type) not between 1 and 200
     or length(aggregate_type) not between 1 and 200 or length(aggregate_id) not between 1 and 200
     or (aggregate_id is not null and aggregate_type is null) then
    perform postrider.check_message(namespace, topic, payload, key, dedupe_key, tenant, aggregate_type,
      aggregate_id, event_type, headers, content_type, not_before, enqueue.id, payload_bytes, v_max);
    if v_route is null then
      v_route := postrider.intern_route(namespace, topic);
    end if;
  end if;

  if dedupe_key is not null then
    -- Waits for a concurrent first enqueue of the same dedupe key; a duplicate takes no sequence number.
    insert into postrider.dedupe (route, dedupe_key, message_id)
    values (v_route, enqueue.dedupe_key, v_id) on conflict do nothing;
    if not found then
      return (select row(d.message_id, m.sequence, true)::postrider.enqueued
                from postrider.dedupe d left join postrider.message m on m.id = d.message_id
               where d.route = v_route and d.dedupe_key = enqueue.dedupe_key);
    end if;
  end if;
  if key is not null then
    -- The bump's row lock lasts until the producer commits: so commit order is sequence order, and a
    -- rollback leaves no hole.
    update postrider.ordering_key k set last_sequence = last_sequence + 1
     where k.namespace = enqueue.namespace and k.key = enqueue.key
     returning k.id, k.last_sequence into v_key, v_seq;
    if v_key is null then
      insert into postrider.ordering_key as k (namespace, key, last_sequence)
      values (enqueue.namespace, enqueue.key, 1)
      on conflict (namespace, key) do update set last_sequence = k.last_sequence + 1
      returning k.id, k.last_sequence into v_key, v_seq;
    end if;
  end if;

  with logged as (
    insert into postrider.message (id, created_at, not_before, key_id, sequence, route, tenant,
      aggregate_type, aggregate_id, event_type, ordering_key, dedupe_key, content_type, headers, payload)
    values (v_id, now(), enqueue.not_before, v_key, v_seq, v_route, enqueue.tenant,
      enqueue.aggregate_type, enqueue.aggregate_id, enqueue.event_type, enqueue.key, enqueue.dedupe_key,
      enqueue.content_type, enqueue.headers, coalesce(payload_bytes, convert_to(payload, 'UTF8'))))
  insert into postrider.queue (id, key_id, sequence, due_at, route, size, lane)
  values (v_id, v_key, v_seq, case when not_before > now() then not_before end, v_route,
    coalesce(octet_length(payload_bytes), octet_length(payload)),
    case when not_before > now() then -1 - postrider.lane_of(v_key) else postrider.lane_of(v_key) end);

  -- Rings only while a relay sleeps: a NOTIFY in every transaction would serialise all commits.
  if v_armed then
    perform pg_notify('postrider', '');
  end if;
  return row(v_id, v_seq, false)::postrider.enqueued;
end $$;

-- Many messages in one call: a JSON array of objects whose fields are enqueue's parameters. A payload may
-- be JSON itself, or a string, which is taken as it is; payload_base64 holds any other bytes. Sequence
-- locks are taken in sorted order, so two batches never wait for each other in a circle.
create function postrider.enqueue_batch(messages json)
returns table (place int, id uuid, sequence bigint, duplicate boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  m record;
  e postrider.enqueued;
begin
  if messages is null or json_typeof(messages) <> 'array' then
    perform postrider.refuse('messages', 'must be a JSON array of objects');
  end if;
  for m in
    select t.place, x.* from json_array_elements(messages) with ordinality as t(item, place)
     cross join lateral json_to_record(t.item) as x(
       namespace text, topic text, payload text, key text, dedupe_key text, tenant text,
       aggregate_type text, aggregate_id text, event_type text, headers jsonb, content_type text,
       not_before timestamptz, id uuid, payload_base64 text)
     order by x.namespace, x.key nulls first, t.place
  loop
    e := postrider.enqueue(m.namespace, m.topic, m.payload, m.key, m.dedupe_key, m.tenant,
      m.aggregate_type, m.aggregate_id, m.event_type, m.headers, m.content_type, m.not_before, m.id,
      decode(m.payload_base64, 'base64'));
    place := m.place;
    id := e.id;
    sequence := e.sequence;
    duplicate := e.duplicate;
    return next;
  end loop;
end $$;
