-- Newer servers have this built in.
do $$
begin
  if current_setting('server_version_num')::int >= 160000 then
    execute 'create or replace function postrider.is_json(value text) returns boolean
             language sql immutable strict parallel safe return value is json';
  else
    create or replace function postrider.is_json(value text) returns boolean
    language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $f$
    begin
      perform value::json;
      return true;
    exception when others then
      return false;
    end $f$;
  end if;
end $$;

create or replace function postrider.is_json(value bytea) returns boolean
language plpgsql immutable strict parallel safe as $$
begin
  return postrider.is_json(convert_from(value, 'UTF8'));
exception when character_not_in_repertoire then
  return false;
end $$;

-- Whether a content type says JSON: its subtype is json or ends in +json. Such a payload must be valid JSON. Asked
-- once, at enqueue; the answer is message.is_json, and whoever embeds a payload in JSON goes by that alone.
create or replace function postrider.declares_json(content_type text) returns boolean
language sql immutable parallel safe
return content_type is null or split_part(content_type, ';', 1) ~* '/([^/]*[+])?json[ \t-\r]*$';
