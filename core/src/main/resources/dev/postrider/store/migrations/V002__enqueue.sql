create type postrider.enqueued as (id uuid, sequence bigint, duplicate boolean);

-- What newer servers have built in, older ones get as functions of ours. id_number: the leading half of an id, its time.
do $$
begin
  if current_setting('server_version_num')::int >= 180000 then
    create function postrider.new_id() returns uuid language sql volatile return uuidv7();
    execute 'create function postrider.id_number(id uuid) returns bigint language sql immutable strict parallel safe
             return substr(uuid_send(id), 1, 8)::bigint';
  else
    create function postrider.id_number(id uuid) returns bigint language sql immutable strict parallel safe
    return ('x' || encode(substr(uuid_send(id), 1, 8), 'hex'))::bit(64)::bigint;
    -- Milliseconds, version 7 and the rest of the microsecond in 12 bits, as uuidv7() does it: ids of one
    -- millisecond are in order, too. The random half comes with the variant bits set.
    create function postrider.new_id() returns uuid language sql volatile
    return (select encode(overlay(uuid_send(gen_random_uuid()) placing
        int8send((t.us / 1000 << 16) | x'7000'::bigint | (t.us % 1000 * 4096 / 1000)) from 1 for 8), 'hex')::uuid
      from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as us) t);
  end if;
  if current_setting('server_version_num')::int >= 160000 then
    execute 'create function postrider.is_json(value text) returns boolean
             language sql immutable strict parallel safe return value is json';
  else
    create function postrider.is_json(value text) returns boolean
    language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $f$
    begin
      perform value::json;
      return true;
    exception when others then
      return false;
    end $f$;
  end if;
end $$;

create function postrider.is_json(value bytea) returns boolean
language plpgsql immutable strict parallel safe as $$
begin
  return postrider.is_json(convert_from(value, 'UTF8'));
exception when character_not_in_repertoire then
  return false;
end $$;

-- Whether a content type says JSON: its subtype is json or ends in +json. Such a payload must be valid JSON. Asked once,
-- at enqueue; the answer is message.is_json, and whoever embeds a payload in JSON goes by that alone.
create function postrider.declares_json(content_type text) returns boolean
language sql immutable parallel safe
return content_type is null or split_part(content_type, ';', 1) ~* '/([^/]*[+])?json[ \t-\r]*$';

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

-- The first message of a dedupe key was there a moment ago and its key is now past its retention.
create function postrider.dedupe_vanished() returns void
language plpgsql as $$
begin
  raise exception using errcode = 'serialization_failure',
    message = 'a dedupe key reached the end of its retention during the call',
    hint = 'Nothing was written. Repeat the transaction.';
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
        format('must hold strings only; %s is of type %s', quote_literal(left(h.k, 100)), jsonb_typeof(h.v)));
    elsif length(h.k) not between 1 and 200 then
      perform postrider.refuse('headers', format('has a name of %s characters; 1 to 200 are allowed', length(h.k)));
    elsif length(h.v #>> '{}') > 4096 then
      perform postrider.refuse('headers', format('has a value of %s characters under %s; at most 4096 are allowed',
        length(h.v #>> '{}'), quote_literal(h.k)));
    end if;
  end loop;
end $$;

-- Whether headers, of a usual size, need no closer look. Most messages carry a trace, and a look costs a quarter of
-- an enqueue. Not in SQL, which the caller would set up in every call, also for a message without headers.
create function postrider.headers_fit(headers jsonb) returns boolean
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_typeof(headers) = 'object' and octet_length(headers::text) <= 512 -- so there are fewer than 64
    and not jsonb_path_exists(headers,
      '$.keyvalue() ? (@.value.type() <> "string" || @.key like_regex "^(.{201}|$)" flag "s")');
end $$;

-- Makes a topic. Transactions that run at the same time do not see each other's topics, so together they can go over the
-- limits by what each of them makes. A lock would last until the producer's commit: producers of new topics would wait
-- for each other's work, and lock each other out by the keys that they hold.
create function postrider.intern_route(namespace text, topic text) returns int
language plpgsql as $$
#variable_conflict use_column
declare
  found_id int;
  v_most   int := (select e.max_topics from postrider.engine e);
  v_spaces int := (select e.max_namespaces from postrider.engine e);
begin
  if not exists (select from postrider.route r where r.namespace = intern_route.namespace) and (
       -- From each namespace to the next by the index, whatever the number of topics.
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
        select from postrider.route r where r.namespace = intern_route.namespace limit v_most) t) >= v_most then
    perform postrider.refuse('topic', format('is new, and the namespace has %s topics; at most %s are allowed '
      || '(postrider.engine.max_topics)', v_most, v_most));
  end if;
  insert into postrider.route (namespace, topic) values (intern_route.namespace, intern_route.topic)
    on conflict do nothing returning id into found_id;
  if found_id is null then
    select id into found_id from postrider.route r
     where r.namespace = intern_route.namespace and r.topic = intern_route.topic;
  end if;
  return found_id;
end $$;

-- Whether a relay that serves this topic sleeps. Volatile, as pg_sequence_last_value is: the planner inlines a function
-- only if its body is not more volatile than the function. Not inlined it would cost 15 us in each enqueue.
create function postrider.bell(route int) returns bigint
language sql volatile
return case route % 4 when 0 then pg_sequence_last_value('postrider.doorbell_0')
                      when 1 then pg_sequence_last_value('postrider.doorbell_1')
                      when 2 then pg_sequence_last_value('postrider.doorbell_2')
                      else pg_sequence_last_value('postrider.doorbell_3') end;

-- Rings for a topic. A session with postrider.notify = off does not: PREPARE TRANSACTION refuses a transaction that
-- notified, so that XA does without, and relays find its messages when they look by themselves.
create function postrider.ring(route int) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('postrider.notify', true) is distinct from 'off' then
    perform pg_notify('postrider', route::text);
  end if;
end $$;

-- The highest sequence that a removed key had: a new key starts above it. Read it only after the key's row was inserted.
-- Then every earlier row of the key was removed by a transaction that has committed, and its number counts. The planner
-- inlines it.
create function postrider.key_floor() returns bigint
language sql volatile
return coalesce(pg_sequence_last_value('postrider.key_floor_now'), 0);

-- The next p_count sequences of a key; returns the last one. The row lock lasts until the producer commits: so commit
-- order is sequence order, and a rollback leaves no hole. p_floor: the sequences start above it, for a key that was just
-- made.
create function postrider.number_key(
  p_namespace text, p_key text, p_count bigint, p_floor bigint default 0, out key_id bigint, out sequence bigint)
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now   record;
  v_floor bigint := p_floor;
begin
  loop
    select k.id, k.generation, k.last_sequence into v_now from postrider.ordering_key k
     where k.namespace = p_namespace and k.key = p_key order by k.generation desc limit 1 for update;
    if not found then
      insert into postrider.ordering_key as k (namespace, key, last_sequence) values (p_namespace, p_key, 0)
      on conflict (namespace, key, generation) do nothing;
      if found then
        v_floor := postrider.key_floor();
      end if;
    -- The newest row may have been replaced while we waited for it.
    elsif not exists (select from postrider.ordering_key k
                       where k.namespace = p_namespace and k.key = p_key and k.generation > v_now.generation) then
      key_id := v_now.id;
      sequence := greatest(v_now.last_sequence, v_floor) + p_count;
      if sequence / 64 = greatest(v_now.last_sequence, v_floor) / 64 then
        update postrider.ordering_key k set last_sequence = number_key.sequence, used_at = now()
         where k.namespace = p_namespace and k.key = p_key and k.generation = v_now.generation;
        return;
      end if;
      insert into postrider.ordering_key as k (id, namespace, key, generation, last_sequence)
      values (key_id, p_namespace, p_key, sequence / 64, sequence)
      on conflict (namespace, key, generation) do nothing;
      if found then
        -- The first row stays, but is full for whoever waits for it; and written, which others notice at REPEATABLE READ.
        update postrider.ordering_key k set last_sequence = 63, used_at = now()
         where k.namespace = p_namespace and k.key = p_key and k.generation = 0 and v_now.generation = 0;
        delete from postrider.ordering_key k
         where k.namespace = p_namespace and k.key = p_key and k.generation = v_now.generation and k.generation > 0;
        return;
      end if;
    end if;
  end loop;
end $$;

-- Whether an optional field is empty, too long, or lacks the one it goes with. The planner inlines it.
create function postrider.misfit(
  key text, dedupe_key text, tenant text, aggregate_type text, aggregate_id text, event_type text)
returns boolean language sql immutable parallel safe
return coalesce(greatest(length(key), length(dedupe_key)) > 400
    or greatest(length(tenant), length(aggregate_type), length(aggregate_id), length(event_type)) > 200
    or least(key, dedupe_key, tenant, aggregate_type, aggregate_id, event_type) = ''
    or (aggregate_id is not null and aggregate_type is null), false);

-- Whether a JSON message needs no closer look: no field is empty, long, or lacks the one it goes with. Up to 4096 bytes
-- are always allowed, see engine. The planner inlines it.
create function postrider.usual(
  payload text, key text, dedupe_key text, tenant text, aggregate_type text, aggregate_id text, event_type text,
  headers jsonb)
returns boolean language sql stable parallel safe
return octet_length(payload) <= 4096 and postrider.is_json(payload)
  and octet_length(concat(key, dedupe_key, tenant, aggregate_type, aggregate_id, event_type)) <= 200
  and coalesce(least(key, dedupe_key, tenant, aggregate_type, aggregate_id, event_type), '-') <> ''
  and (aggregate_id is null or aggregate_type is not null)
  and postrider.headers_fit(headers) is not false;

-- The slow half of enqueue's checks, called only when the one cheap test there has failed or an optional
-- field asks for a closer look. Raises with the field's name and what was expected of it. Returns whether the payload
-- is JSON.
create function postrider.check_message(
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
       and not postrider.misfit(key, dedupe_key, tenant, aggregate_type, aggregate_id, event_type), false) then
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

-- A message, with whatever optional fields it has. plpgsql sets every expression and statement up anew in each
-- transaction, which costs more than running it: hence what most messages lack is asked for in one go.
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
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- A small table would be read as a whole, and at SERIALIZABLE that conflicts with all producers of other keys.
set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_id    uuid;
  v_route int;
  v_key   bigint;
  v_seq   bigint;
  v_lane  int := postrider.lane_of(tenant);
  v_due   timestamptz;
  v_json  boolean;        -- true at first only if all the rest needs no closer look, too
begin
  select r.id, coalesce(enqueue.id, postrider.new_id()),
         num_nonnulls(content_type, not_before, enqueue.id, payload_bytes) = 0 and postrider.usual(
           payload, key, dedupe_key, tenant, aggregate_type, aggregate_id, event_type, headers)
    into v_route, v_id, v_json from postrider.route r
   where r.namespace = enqueue.namespace and r.topic = enqueue.topic;
  if v_json is not true then
    v_json := postrider.check_message(namespace, topic, payload, key, dedupe_key, tenant, aggregate_type,
      aggregate_id, event_type, headers, content_type, not_before, enqueue.id, payload_bytes,
      (select e.max_payload_bytes from postrider.engine e));
    if v_route is null then
      v_route := postrider.intern_route(namespace, topic);
      v_id := coalesce(enqueue.id, postrider.new_id());
    end if;
    if not_before > now() then
      v_due := not_before;
    end if;
  end if;

  if dedupe_key is not null then
    -- Waits for a concurrent first enqueue of the same dedupe key; a duplicate takes no sequence number.
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
    -- What number_key() does, for most messages.
    update postrider.ordering_key k set last_sequence = last_sequence + 1, used_at = now()
     where k.namespace = enqueue.namespace and k.key = enqueue.key and k.last_sequence % 64 < 63
       and k.generation = (
         select l.generation from postrider.ordering_key l
          where l.namespace = enqueue.namespace and l.key = enqueue.key order by l.generation desc limit 1)
     returning k.id, k.last_sequence into v_key, v_seq;
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
  values (v_id, v_key, coalesce(v_seq, postrider.id_number(v_id)), v_due, v_route,
    coalesce(octet_length(payload_bytes), octet_length(payload)) + coalesce(pg_column_size(headers), 0),
    v_lane);

  -- Rings only while a relay sleeps: a NOTIFY in every transaction would serialise all commits.
  if postrider.bell(v_route) = 1 and v_due is null then
    perform postrider.ring(v_route);
  end if;
  return row(v_id, v_seq, false)::postrider.enqueued;
end $$;

-- Rings, and hands the id through: for a statement that cannot branch.
create function postrider.rung(id uuid, route int) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform postrider.ring(route);
  return id;
end $$;

-- The same as enqueue() for messages as they usually are, each as one statement: less to set up than in plpgsql.
-- Whatever is not as usual (an unknown topic, a field that wants a closer look, a known dedupe key) they leave alone:
-- they write nothing and answer null, and the caller asks enqueue(). They need no search path, since their names
-- were looked up when they were made. Only PostgreSQL 18 and later keep their plans; before, enqueue() is quicker.
-- Quoted, because not every client that runs this script knows where such a body ends.
do $make$
begin
  execute $function$
    create function postrider.try_enqueue_plain(namespace text, topic text, payload text) returns uuid
    language sql security definer
    begin atomic
      with given as materialized (
        select r.id as route, postrider.new_id() as id from postrider.route r
         where r.namespace = try_enqueue_plain.namespace and r.topic = try_enqueue_plain.topic
           and octet_length(payload) <= 4096 and postrider.is_json(payload)),
      logged as (
        insert into postrider.message (id, created_at, route, is_json, payload)
        select g.id, now(), g.route, true, convert_to(payload, 'UTF8') from given g)
      insert into postrider.queue (id, sequence, route, size, lane)
      select g.id, postrider.id_number(g.id), g.route, octet_length(payload), 0 from given g
      returning case postrider.bell(route) when 1 then postrider.rung(id, route) else id end;
    end
  $function$;

  execute $function$
    create function postrider.try_enqueue_keyed(
      namespace text, topic text, payload text, key text, tenant text default null, aggregate_type text default null,
      aggregate_id text default null, event_type text default null, headers jsonb default null)
    returns postrider.enqueued
    language sql security definer set enable_seqscan = off
    begin atomic
      with given as materialized (
        select r.id as route, postrider.new_id() as id from postrider.route r
         where r.namespace = try_enqueue_keyed.namespace and r.topic = try_enqueue_keyed.topic and key is not null
           and postrider.usual(payload, key, null, tenant, aggregate_type, aggregate_id, event_type, headers)),
      known as (
        update postrider.ordering_key k set last_sequence = k.last_sequence + 1, used_at = now() from given
         where k.namespace = try_enqueue_keyed.namespace and k.key = try_enqueue_keyed.key
           and k.last_sequence % 64 < 63
           and k.generation = (
             select l.generation from postrider.ordering_key l
              where l.namespace = try_enqueue_keyed.namespace and l.key = try_enqueue_keyed.key
              order by l.generation desc limit 1)
        returning k.id, k.last_sequence),
      created as (
        insert into postrider.ordering_key as k (namespace, key, last_sequence)
        select try_enqueue_keyed.namespace, try_enqueue_keyed.key, 1 + postrider.key_floor() from given
         where not exists (select from known)
        on conflict (namespace, key, generation) do nothing
        -- Read again after the insert, see key_floor().
        returning k.id, k.last_sequence, postrider.key_floor() as floor),
      numbered as (
        select * from known union all
        select c.id, c.last_sequence from created c where c.last_sequence > c.floor union all
        select n.key_id, n.sequence
          from given left join created c on true
         cross join lateral postrider.number_key(
           try_enqueue_keyed.namespace, try_enqueue_keyed.key, 1, coalesce(c.floor, 0)) n
         where not exists (select from known)
           and not exists (select from created c where c.last_sequence > c.floor)),
      logged as (
        insert into postrider.message (id, created_at, key_id, sequence, route, is_json, tenant, aggregate_type,
          aggregate_id, event_type, ordering_key, headers, payload)
        select g.id, now(), n.id, n.last_sequence, g.route, true, tenant, aggregate_type, aggregate_id,
               event_type, try_enqueue_keyed.key, headers, convert_to(payload, 'UTF8')
          from given g cross join numbered n)
      insert into postrider.queue (id, key_id, sequence, route, size, lane)
      select g.id, n.id, n.last_sequence, g.route, octet_length(payload) + coalesce(pg_column_size(headers), 0),
             postrider.lane_of(tenant)
        from given g cross join numbered n
      returning case postrider.bell(route) when 1 then postrider.rung(id, route) else id end,
        sequence, false;
    end
  $function$;

  execute $function$
    create function postrider.try_enqueue_once(
      namespace text, topic text, payload text, key text, dedupe_key text, tenant text default null,
      aggregate_type text default null, aggregate_id text default null, event_type text default null,
      headers jsonb default null)
    returns postrider.enqueued
    language sql security definer set enable_seqscan = off
    begin atomic
      with given as (
        insert into postrider.dedupe (route, dedupe_key, message_id)
        select r.id, try_enqueue_once.dedupe_key, postrider.new_id() from postrider.route r
         where r.namespace = try_enqueue_once.namespace and r.topic = try_enqueue_once.topic
           and num_nulls(key, try_enqueue_once.dedupe_key) = 0
           and postrider.usual(payload, key, try_enqueue_once.dedupe_key, tenant, aggregate_type, aggregate_id,
                 event_type, headers)
        on conflict do nothing returning route, message_id),
      known as (
        update postrider.ordering_key k set last_sequence = k.last_sequence + 1, used_at = now() from given
         where k.namespace = try_enqueue_once.namespace and k.key = try_enqueue_once.key
           and k.last_sequence % 64 < 63
           and k.generation = (
             select l.generation from postrider.ordering_key l
              where l.namespace = try_enqueue_once.namespace and l.key = try_enqueue_once.key
              order by l.generation desc limit 1)
        returning k.id, k.last_sequence),
      created as (
        insert into postrider.ordering_key as k (namespace, key, last_sequence)
        select try_enqueue_once.namespace, try_enqueue_once.key, 1 + postrider.key_floor() from given
         where not exists (select from known)
        on conflict (namespace, key, generation) do nothing
        -- Read again after the insert, see key_floor().
        returning k.id, k.last_sequence, postrider.key_floor() as floor),
      numbered as (
        select * from known union all
        select c.id, c.last_sequence from created c where c.last_sequence > c.floor union all
        select n.key_id, n.sequence
          from given left join created c on true
         cross join lateral postrider.number_key(
           try_enqueue_once.namespace, try_enqueue_once.key, 1, coalesce(c.floor, 0)) n
         where not exists (select from known)
           and not exists (select from created c where c.last_sequence > c.floor)),
      logged as (
        insert into postrider.message (id, created_at, key_id, sequence, route, is_json, tenant, aggregate_type,
          aggregate_id, event_type, ordering_key, dedupe_key, headers, payload)
        select g.message_id, now(), n.id, n.last_sequence, g.route, true, tenant, aggregate_type, aggregate_id,
               event_type, try_enqueue_once.key, try_enqueue_once.dedupe_key, headers, convert_to(payload, 'UTF8')
          from given g cross join numbered n)
      insert into postrider.queue (id, key_id, sequence, route, size, lane)
      select g.message_id, n.id, n.last_sequence, g.route, octet_length(payload) + coalesce(pg_column_size(headers), 0),
             postrider.lane_of(tenant)
        from given g cross join numbered n
      returning case postrider.bell(route) when 1 then postrider.rung(id, route) else id end,
        sequence, false;
    end
  $function$;
end $make$;

create type postrider.batch_item as (
  namespace text, topic text, payload text, key text, dedupe_key text, tenant text, aggregate_type text,
  aggregate_id text, event_type text, headers jsonb, content_type text, not_before timestamptz,
  given_id uuid, payload_bytes bytea, place int, id uuid, is_json boolean);

-- Finds what could not be read in a batch, slowly, and refuses it by its place and field.
create function postrider.refuse_unreadable(messages json) returns void language plpgsql as $$
declare
  v_item  record;
  v_field text;
begin
  for v_item in select * from json_array_elements(messages) with ordinality as t(value, place) loop
    if json_typeof(v_item.value) <> 'object' then
      perform postrider.refuse('messages',
        format('must hold objects only; message %s is a %s', v_item.place, json_typeof(v_item.value)));
    end if;
    v_field := 'messages';
    begin
      for v_field in select * from json_object_keys(v_item.value) loop
        case v_field
          when 'id' then perform (v_item.value ->> v_field)::uuid;
          when 'not_before' then perform (v_item.value ->> v_field)::timestamptz;
          when 'headers' then perform (v_item.value ->> v_field)::jsonb;
          when 'payload_base64' then perform decode(v_item.value ->> v_field, 'base64');
          else null;
        end case;
      end loop;
    exception when data_exception then
      perform postrider.refuse(v_field, format('cannot be read in message %s: %s', v_item.place, sqlerrm));
    end;
  end loop;
end $$;

-- Reads and checks a batch; writes nothing, so that its exception blocks cost no transaction ids.
create function postrider.read_batch(messages json) returns postrider.batch_item[]
language plpgsql as $$
declare
  v_items   postrider.batch_item[];
  v_max     int;
  v_item    record;
  v_field   text;
  v_problem text;
begin
  if messages is null or json_typeof(messages) <> 'array' then
    perform postrider.refuse('messages', 'must be a JSON array of objects');
  end if;
  begin
    select array_agg(row(x.namespace, x.topic, x.payload, x.key, x.dedupe_key, x.tenant, x.aggregate_type,
             x.aggregate_id, x.event_type, x.headers, x.content_type, x.not_before, x.id,
             decode(x.payload_base64, 'base64'), t.place,
             coalesce(x.id, postrider.new_id()), postrider.declares_json(x.content_type))::postrider.batch_item
             order by t.place)
      into v_items
      from json_array_elements(messages) with ordinality as t(item, place)
     cross join lateral json_to_record(t.item) as x(
       namespace text, topic text, payload text, key text, dedupe_key text, tenant text,
       aggregate_type text, aggregate_id text, event_type text, headers jsonb, content_type text,
       not_before timestamptz, id uuid, payload_base64 text);
  exception when data_exception then
    perform postrider.refuse_unreadable(messages);
    raise;
  end;

  -- A misspelt field would otherwise be lost in silence, and with it an order or a dedupe.
  select k.name, t.place into v_item
    from json_array_elements(messages) with ordinality as t(item, place)
   cross join lateral json_object_keys(t.item) as k(name)
   where k.name not in ('namespace', 'topic', 'payload', 'key', 'dedupe_key', 'tenant', 'aggregate_type',
     'aggregate_id', 'event_type', 'headers', 'content_type', 'not_before', 'id', 'payload_base64') limit 1;
  if found then
    perform postrider.refuse('messages',
      format('has an unknown field %s in message %s', quote_literal(left(v_item.name, 100)), v_item.place));
  end if;

  select e.max_payload_bytes into v_max from postrider.engine e;
  begin
    for v_item in
      select * from unnest(v_items) i
       where not coalesce(length(i.namespace) between 1 and 100 and length(i.topic) between 1 and 200
         and postrider.headers_fit(i.headers) is not false
         and num_nonnulls(i.content_type, i.not_before, i.given_id, i.payload_bytes) = 0
         and octet_length(i.payload) <= v_max and postrider.is_json(i.payload)
         and not postrider.misfit(i.key, i.dedupe_key, i.tenant, i.aggregate_type, i.aggregate_id,
               i.event_type), false)
       order by i.place
    loop
      perform postrider.check_message(v_item.namespace, v_item.topic, v_item.payload, v_item.key,
        v_item.dedupe_key, v_item.tenant, v_item.aggregate_type, v_item.aggregate_id, v_item.event_type,
        v_item.headers, v_item.content_type, v_item.not_before, v_item.given_id, v_item.payload_bytes, v_max);
    end loop;
  exception when sqlstate 'PR001' then
    get stacked diagnostics v_field = column_name, v_problem = message_text;
    raise exception using errcode = 'PR001', column = v_field,
      message = format('message %s: %s', v_item.place, v_problem),
      hint = 'Nothing was written for the whole batch. Correct the field and enqueue again.';
  end;
  return v_items;
end $$;

-- Many messages in one call: a JSON array of objects whose fields are enqueue's parameters. A payload may
-- be JSON itself, or a string, which is taken as it is; payload_base64 holds any other bytes. Answers come
-- in the order of the messages. Whatever that order, locks are taken in one: routes, dedupe keys, ordering
-- keys, each sorted. So batches never wait for each other in a circle, nor with single enqueues.
create function postrider.enqueue_batch(messages json)
returns table (place int, id uuid, sequence bigint, duplicate boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- As in claim(): the tables may have grown from nothing to millions since they were last analyzed.
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_items postrider.batch_item[] := postrider.read_batch(messages);
  v_new   boolean[];      -- by place: not a duplicate
  v_seq   bigint[];       -- by place
begin
  if v_items is null then
    return;
  end if;
  perform postrider.intern_route(n.namespace, n.topic)
     from (select distinct i.namespace, i.topic from unnest(v_items) i
            where not exists (select from postrider.route r
                               where r.namespace = i.namespace and r.topic = i.topic)
            order by 1, 2) n;

  with firsts as materialized (
    select distinct on (r.id, i.dedupe_key) r.id as route, i.dedupe_key, i.id, i.place
      from unnest(v_items) i
     cross join lateral (select r.id from postrider.route r
                          where r.namespace = i.namespace and r.topic = i.topic limit 1) r
     where i.dedupe_key is not null
     order by r.id, i.dedupe_key, i.place),
  won as (
    insert into postrider.dedupe (route, dedupe_key, message_id)
    select f.route, f.dedupe_key, f.id from firsts f order by f.route, f.dedupe_key
    on conflict do nothing returning route, dedupe_key),
  new as (select f.place from won w join firsts f on f.route = w.route and f.dedupe_key = w.dedupe_key)
  select array_agg(i.dedupe_key is null or n.place is not null order by i.place) into v_new
    from unnest(v_items) i left join new n on n.place = i.place;

  with wanted as materialized (
    select w.namespace, w.key, w.n, k.key_id as id, k.sequence as last_sequence
      from (select i.namespace, i.key, count(*) as n from unnest(v_items) i
             where v_new[i.place] and i.key is not null group by i.namespace, i.key
             order by i.namespace, i.key) w
     cross join lateral postrider.number_key(w.namespace, w.key, w.n) k),
  numbered as materialized (
    select i.*, r.id as route, w.id as key_id,
           w.last_sequence - w.n + row_number() over (partition by i.namespace, i.key order by i.place) as seq,
           coalesce(i.payload_bytes, convert_to(i.payload, 'UTF8')) as body,
           i.not_before > now() as later
      from unnest(v_items) i
     cross join lateral (select r.id from postrider.route r
                          where r.namespace = i.namespace and r.topic = i.topic limit 1) r
      left join wanted w on w.namespace = i.namespace and w.key = i.key
     where v_new[i.place]
     order by i.place),
  logged as (
    insert into postrider.message (id, created_at, not_before, key_id, sequence, route, is_json, tenant,
      aggregate_type, aggregate_id, event_type, ordering_key, dedupe_key, content_type, headers, payload)
    select n.id, now(), n.not_before, n.key_id, n.seq, n.route, n.is_json, n.tenant, n.aggregate_type, n.aggregate_id,
           n.event_type, n.key, n.dedupe_key, n.content_type, n.headers, n.body
      from numbered n),
  queued as (
    insert into postrider.queue (id, key_id, sequence, due_at, route, size, lane)
    select n.id, n.key_id, coalesce(n.seq, postrider.id_number(n.id)), case when n.later then n.not_before end,
           n.route, octet_length(n.body) + coalesce(pg_column_size(n.headers), 0),
           case when n.later then -1 - postrider.lane_of(n.tenant) else postrider.lane_of(n.tenant) end
      from numbered n)
  select array_agg(n.seq order by i.place) into v_seq
    from unnest(v_items) i left join numbered n on n.place = i.place;

  perform postrider.ring(r.id)
     from (select distinct i.namespace, i.topic from unnest(v_items) i) t
     join postrider.route r on r.namespace = t.namespace and r.topic = t.topic
    where postrider.bell(r.id) = 1;
  for place, id, sequence, duplicate in
    select i.place, case when v_new[i.place] then i.id else d.message_id end,
           case when v_new[i.place] then v_seq[i.place] else d.sequence end, not v_new[i.place]
      from unnest(v_items) i
      left join lateral (
        select d.message_id, coalesce(m.sequence, d.sequence) as sequence
          from postrider.route r
          join postrider.dedupe d on d.route = r.id and d.dedupe_key = i.dedupe_key
          left join postrider.message m on m.id = d.message_id
         where not v_new[i.place] and r.namespace = i.namespace and r.topic = i.topic limit 1) d on true
     order by i.place
  loop
    if id is null then
      perform postrider.dedupe_vanished();
    end if;
    return next;
  end loop;
end $$;
