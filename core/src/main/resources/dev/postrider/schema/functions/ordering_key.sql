-- The highest sequence that a removed key had: a new key starts above it. Read it only after the key's row was
-- inserted. Then every earlier row of the key was removed by a transaction that has committed, and its number counts.
-- The planner inlines it.
create or replace function postrider.key_floor() returns bigint
language sql volatile
return coalesce(pg_sequence_last_value('postrider.key_floor_now'), 0);

-- The next p_count sequences of a key; returns the last one. The row lock lasts until the producer commits: so commit
-- order is sequence order, and a rollback leaves no hole. p_floor: the sequences start above it, for a key that was
-- just made.
--
-- At SERIALIZABLE a transaction that reads a page of an index conflicts with those that insert there, also for other keys.
-- So the producer of a new key inserts and reads nothing, and a row counts 1,024 messages instead of 64.
create or replace function postrider.number_key(
  p_namespace text, p_key text, p_count bigint, p_floor bigint default 0, out key_id bigint, out sequence bigint)
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_serializable constant boolean := current_setting('transaction_isolation') = 'serializable';
  v_most  constant int := case when v_serializable then 1024 else 64 end;
  v_now   record;
  v_floor bigint := p_floor;
begin
  if v_serializable then
    insert into postrider.ordering_key as k (namespace, key, last_sequence)
    values (p_namespace, p_key, postrider.key_floor() + p_count)
    on conflict (namespace, key, generation) do nothing returning k.id, k.last_sequence into key_id, sequence;
    if found then
      v_floor := postrider.key_floor(); -- read again after the insert, see key_floor()
      if sequence >= v_floor + p_count then
        return;
      end if;
    end if;
  end if;
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
      if sequence / v_most = greatest(v_now.last_sequence, v_floor) / v_most then
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

-- The number of a key and its next sequence, for a key that is new or whose newest row is full. A new key takes one
-- insert. An array, which costs the statements in enqueue_fast.sql less than a row.
create or replace function postrider.number_new_key(p_namespace text, p_key text) returns bigint[]
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_id       bigint;
  v_sequence bigint;
  v_floor    bigint := 0;
begin
  insert into postrider.ordering_key as k (namespace, key, last_sequence)
  values (p_namespace, p_key, 1 + postrider.key_floor())
  on conflict (namespace, key, generation) do nothing returning k.id, k.last_sequence into v_id, v_sequence;
  if found then
    v_floor := postrider.key_floor(); -- read again after the insert, see key_floor()
  end if;
  if v_sequence > v_floor then
    return array[v_id, v_sequence];
  end if;
  return (select array[n.key_id, n.sequence] from postrider.number_key(p_namespace, p_key, 1, v_floor) n);
end $$;
