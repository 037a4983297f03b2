-- Finds what could not be read in a batch, slowly, and refuses it by its place and field.
create or replace function postrider.refuse_unreadable(messages json) returns void language plpgsql as $$
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
create or replace function postrider.read_batch(messages json) returns postrider.batch_item[]
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
         and not postrider.has_invalid_field(i.key, i.dedupe_key, i.tenant, i.aggregate_type, i.aggregate_id,
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
create or replace function postrider.enqueue_batch(messages json)
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
                               where r.namespace = i.namespace and r.topic = i.topic and r.subscription = '')
            order by 1, 2) n;
  if current_setting('transaction_isolation') <> 'read committed' then
    perform postrider.check_snapshot(n.id)
       from (select distinct r.id from unnest(v_items) i
               join postrider.route r on r.namespace = i.namespace and r.topic = i.topic and r.subscription = ''
              where not r.fans_out order by 1) n;
  end if;

  with firsts as materialized (
    select distinct on (r.id, i.dedupe_key) r.id as route, i.dedupe_key, i.id, i.place
      from unnest(v_items) i
     cross join lateral (select r.id from postrider.route r
                          where r.namespace = i.namespace and r.topic = i.topic and r.subscription = '' limit 1) r
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
    select i.*, r.id as route, r.fans_out, w.id as key_id,
           w.last_sequence - w.n + row_number() over (partition by i.namespace, i.key order by i.place) as seq,
           coalesce(i.payload_bytes, convert_to(i.payload, 'UTF8')) as body,
           i.not_before > now() as later
      from unnest(v_items) i
     cross join lateral (select r.id, r.fans_out from postrider.route r
                          where r.namespace = i.namespace and r.topic = i.topic and r.subscription = '' limit 1) r
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
           case when n.fans_out then -n.route else n.route end, octet_length(n.body) + coalesce(pg_column_size(n.headers), 0),
           case when n.later then -1 - postrider.lane_of(n.tenant) else postrider.lane_of(n.tenant) end
      from numbered n)
  select array_agg(n.seq order by i.place) into v_seq
    from unnest(v_items) i left join numbered n on n.place = i.place;

  perform postrider.ring(r.id)
     from (select distinct i.namespace, i.topic from unnest(v_items) i) t
     join postrider.route r on r.namespace = t.namespace and r.topic = t.topic and r.subscription = ''
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
         where not v_new[i.place] and r.namespace = i.namespace and r.topic = i.topic and r.subscription = ''
         limit 1) d on true
     order by i.place
  loop
    if id is null then
      perform postrider.dedupe_vanished();
    end if;
    return next;
  end loop;
end $$;
