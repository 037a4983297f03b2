-- enqueue() for usual messages, each function as one statement, which takes less set-up than plpgsql. For an unusual
-- message (an unknown topic, a field that needs the full checks, a known dedupe key) they write nothing and return
-- null, and the caller calls enqueue(). They need no search path, since their names were resolved at creation.
-- PostgreSQL 18 and later keep their plans; on older versions enqueue() is faster. The bodies are quoted, because some
-- clients do not find the end of an unquoted body.
do $make$
begin
  execute $function$
    create or replace function postrider.try_enqueue_plain(namespace text, topic text, payload text) returns uuid
    language sql security definer
    begin atomic
      with given as materialized (
        select r.id as route, r.fans_out, postrider.new_id() as id from postrider.route r
         where r.namespace = try_enqueue_plain.namespace and r.topic = try_enqueue_plain.topic and r.subscription = ''
           and (r.fans_out or current_setting('transaction_isolation') = 'read committed')
           and octet_length(payload) <= 4096 and postrider.is_json(payload)),
      logged as (
        insert into postrider.message (id, created_at, route, is_json, payload)
        select g.id, now(), g.route, true, convert_to(payload, 'UTF8') from given g)
      insert into postrider.queue (id, sequence, route, size, lane)
      select g.id, postrider.id_number(g.id), case when g.fans_out then -g.route else g.route end,
             octet_length(payload), 0 from given g
      returning case postrider.bell(route) when 1 then postrider.ring_and_return(id, route) else id end;
    end
  $function$;

  execute $function$
    create or replace function postrider.try_enqueue_keyed(
      namespace text, topic text, payload text, key text, tenant text default null, aggregate_type text default null,
      aggregate_id text default null, event_type text default null, headers jsonb default null)
    returns postrider.enqueued
    language sql security definer set enable_seqscan = off
    begin atomic
      with given as materialized (
        select r.id as route, r.fans_out, postrider.new_id() as id from postrider.route r
         where r.namespace = try_enqueue_keyed.namespace and r.topic = try_enqueue_keyed.topic
           and r.subscription = '' and key is not null
           and current_setting('transaction_isolation') = 'read committed'
           and postrider.fits_fast_path(payload, key, null, tenant, aggregate_type, aggregate_id, event_type, headers)),
      known as (
        update postrider.ordering_key k set last_sequence = k.last_sequence + 1, used_at = now()
         where exists (select from given) and k.namespace = try_enqueue_keyed.namespace and k.key = try_enqueue_keyed.key
           and k.last_sequence % 64 < 63
           and k.generation = (
             select l.generation from postrider.ordering_key l
              where l.namespace = try_enqueue_keyed.namespace and l.key = try_enqueue_keyed.key
              order by l.generation desc limit 1)
        returning k.id, k.last_sequence),
      -- Most keys are known. A function call needs less set-up than another branch of the statement.
      numbered as materialized (
        select given.route, given.fans_out, given.id, coalesce((select array[k.id, k.last_sequence] from known k),
                 postrider.number_new_key(try_enqueue_keyed.namespace, try_enqueue_keyed.key)) as at
          from given),
      logged as (
        insert into postrider.message (id, created_at, key_id, sequence, route, is_json, tenant, aggregate_type,
          aggregate_id, event_type, ordering_key, headers, payload)
        select n.id, now(), n.at[1], n.at[2], n.route, true, tenant, aggregate_type, aggregate_id,
               event_type, try_enqueue_keyed.key, headers, convert_to(payload, 'UTF8')
          from numbered n)
      insert into postrider.queue (id, key_id, sequence, route, size, lane)
      select n.id, n.at[1], n.at[2], case when n.fans_out then -n.route else n.route end,
             octet_length(payload) + coalesce(pg_column_size(headers), 0), postrider.lane_of(tenant)
        from numbered n
      returning case postrider.bell(route) when 1 then postrider.ring_and_return(id, route) else id end,
        sequence, false;
    end
  $function$;

  execute $function$
    create or replace function postrider.try_enqueue_once(
      namespace text, topic text, payload text, key text, dedupe_key text, tenant text default null,
      aggregate_type text default null, aggregate_id text default null, event_type text default null,
      headers jsonb default null)
    returns postrider.enqueued
    language sql security definer set enable_seqscan = off
    begin atomic
      with topic as materialized (
        select r.id as route, r.fans_out, postrider.new_id() as id from postrider.route r
         where r.namespace = try_enqueue_once.namespace and r.topic = try_enqueue_once.topic
           and r.subscription = '' and num_nulls(key, try_enqueue_once.dedupe_key) = 0
           and current_setting('transaction_isolation') = 'read committed'
           and postrider.fits_fast_path(payload, key, try_enqueue_once.dedupe_key, tenant, aggregate_type, aggregate_id,
                 event_type, headers)),
      given as (
        -- Names all columns: an omitted column adds a step to the plan.
        insert into postrider.dedupe (route, dedupe_key, message_id, sequence)
        select t.route, try_enqueue_once.dedupe_key, t.id, null::bigint from topic t
        on conflict do nothing returning route, message_id),
      known as (
        update postrider.ordering_key k set last_sequence = k.last_sequence + 1, used_at = now()
         where exists (select from given) and k.namespace = try_enqueue_once.namespace and k.key = try_enqueue_once.key
           and k.last_sequence % 64 < 63
           and k.generation = (
             select l.generation from postrider.ordering_key l
              where l.namespace = try_enqueue_once.namespace and l.key = try_enqueue_once.key
              order by l.generation desc limit 1)
        returning k.id, k.last_sequence),
      -- Most keys are known. A function call needs less set-up than another branch of the statement.
      numbered as materialized (
        select topic.route, topic.fans_out, given.message_id, coalesce((select array[k.id, k.last_sequence] from known k),
                 postrider.number_new_key(try_enqueue_once.namespace, try_enqueue_once.key)) as at
          from given cross join topic),
      logged as (
        insert into postrider.message (id, created_at, key_id, sequence, route, is_json, tenant, aggregate_type,
          aggregate_id, event_type, ordering_key, dedupe_key, headers, payload)
        select n.message_id, now(), n.at[1], n.at[2], n.route, true, tenant, aggregate_type, aggregate_id,
               event_type, try_enqueue_once.key, try_enqueue_once.dedupe_key, headers, convert_to(payload, 'UTF8')
          from numbered n)
      insert into postrider.queue (id, key_id, sequence, route, size, lane)
      select n.message_id, n.at[1], n.at[2], case when n.fans_out then -n.route else n.route end,
             octet_length(payload) + coalesce(pg_column_size(headers), 0), postrider.lane_of(tenant)
        from numbered n
      returning case postrider.bell(route) when 1 then postrider.ring_and_return(id, route) else id end,
        sequence, false;
    end
  $function$;
end $make$;
