-- What people wrote down; the memory service is to know it, too.
create schema if not exists logbook;

create table if not exists logbook.note (
  id       bigint generated always as identity primary key,
  space    text not null,
  body     text not null,
  saved_at timestamptz not null default now()
);
