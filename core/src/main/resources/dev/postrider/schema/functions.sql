-- Replaces the functions and views as a whole. Most keep their signature and are replaced in place, so that running
-- sessions notice nothing. If a signature changed, all are dropped and created. Those that are no longer in the files
-- are dropped. Functions of a later version stay.
do $functions$
declare
  v_files  pg_catalog.text[] := array[FILES];
  v_before pg_catalog.text[];
  v_file   pg_catalog.text;
begin
  if exists (select from postrider.migration
              where file = 'functions'
                and (checksum = 'CHECKSUM'
                     or string_to_array(split_part(version, '-', 1), '.')::int[]
                        > string_to_array(split_part('VERSION', '-', 1), '.')::int[])) then
    return;
  end if;
  v_before := array(select f.oid || ':' || f.xmin from pg_proc f where f.pronamespace = 'postrider'::regnamespace);
  begin
    foreach v_file in array v_files loop
      execute v_file;
    end loop;
  exception when invalid_function_definition or invalid_table_definition then
    execute (select coalesce('drop view ' || string_agg(v.oid::regclass::text, ', '), 'select') from pg_class v
              where v.relnamespace = 'postrider'::regnamespace and v.relkind = 'v');
    execute (select coalesce('drop routine ' || string_agg(f.oid::regprocedure::text, ', '), 'select') from pg_proc f
              where f.pronamespace = 'postrider'::regnamespace);
    foreach v_file in array v_files loop
      execute v_file;
    end loop;
  end;
  execute (select coalesce('drop routine ' || string_agg(f.oid::regprocedure::text, ', '), 'select') from pg_proc f
            where f.pronamespace = 'postrider'::regnamespace and f.oid || ':' || f.xmin = any (v_before));
  insert into postrider.migration (file, checksum, version) values ('functions', 'CHECKSUM', 'VERSION')
  on conflict (file) do update set checksum = excluded.checksum, version = excluded.version, applied_at = now();
end $functions$;
