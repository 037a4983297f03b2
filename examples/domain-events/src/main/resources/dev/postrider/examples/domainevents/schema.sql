-- The group's own tables. A subsidiary is optional: prices are made by the group.
create schema if not exists holdco;

create table if not exists holdco.orders (
  id            uuid primary key,
  group_id      text not null,
  subsidiary_id text not null,
  customer      text not null,
  sku           text not null,
  total         numeric not null,
  cancelled     boolean not null default false
);

create table if not exists holdco.invoice (
  id       uuid primary key,
  order_id uuid not null references holdco.orders,
  amount   numeric not null
);

create table if not exists holdco.stock (
  subsidiary_id text not null,
  sku           text not null,
  on_hand       int not null,
  primary key (subsidiary_id, sku)
);

create table if not exists holdco.price (
  sku    text primary key,
  amount numeric not null
);

-- What the five consumers keep. They stand in for other systems with databases of their own; each
-- of those would have an inbox beside its tables. Almost all of these add up, so that anything done
-- twice would show.
create schema if not exists consumers;

create table if not exists consumers.event_count (
  group_id text not null,
  event    text not null,
  n        int not null,
  primary key (group_id, event)
);

create table if not exists consumers.revenue (
  subsidiary_id text primary key,
  booked        numeric not null
);

create table if not exists consumers.on_hand (
  subsidiary_id text not null,
  sku           text not null,
  quantity      int not null,
  primary key (subsidiary_id, sku)
);

create table if not exists consumers.shelf_price (
  sku     text primary key,
  amount  numeric not null,
  changes int not null
);

create table if not exists consumers.mail (
  recipient text not null,
  body      text not null
);
