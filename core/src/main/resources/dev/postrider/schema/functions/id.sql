-- What newer servers have built in, older ones get as functions of ours. id_number: the leading half of an id, its
-- time.
do $$
begin
  if current_setting('server_version_num')::int >= 180000 then
    create or replace function postrider.new_id() returns uuid language sql volatile return uuidv7();
    execute 'create or replace function postrider.id_number(id uuid) returns bigint language sql immutable strict parallel safe
             return substr(uuid_send(id), 1, 8)::bigint';
  else
    create or replace function postrider.id_number(id uuid) returns bigint language sql immutable strict parallel safe
    return ('x' || encode(substr(uuid_send(id), 1, 8), 'hex'))::bit(64)::bigint;
    -- Milliseconds, version 7 and the rest of the microsecond in 12 bits, as uuidv7() does it: ids of one
    -- millisecond are in order, too. The random half comes with the variant bits set.
    create or replace function postrider.new_id() returns uuid language sql volatile
    return (select encode(overlay(uuid_send(gen_random_uuid()) placing
        int8send((t.us / 1000 << 16) | x'7000'::bigint | (t.us % 1000 * 4096 / 1000)) from 1 for 8), 'hex')::uuid
      from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as us) t);
  end if;
end $$;

create or replace function postrider.id_time(id uuid) returns timestamptz
language sql immutable strict parallel safe
return to_timestamp(('x' || substr(translate(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0);

-- The lowest id of an instant: range bounds for partitions and for searches by time.
create or replace function postrider.id_floor(at timestamptz) returns uuid
language sql immutable strict parallel safe
return (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- The lane of a tenant; 0 without one. A hash, so that an enqueue need not look a number up. It never changes, also
-- not with the server's version: rows are found by it. Stable, as convert_to is, so that the planner inlines it.
create or replace function postrider.lane_of(tenant text) returns int
language sql stable parallel safe
return case when tenant is null then 0
            else 1 + (('x' || encode(substr(sha256(convert_to(tenant, 'UTF8')), 1, 4), 'hex'))::bit(32)::int & 1073741823)
       end;
