-- The three ideas: a message is written once and never updated (message); one narrow row is all that
-- ever changes (queue); what happened is appended (attempt). Delivered means the queue row is gone.
--
-- Names that an index holds are compared by their bytes (collate "C"): the rules of a language can change with the
-- operating system, and then an index no longer finds what it holds, a known dedupe key say.

-- (namespace, topic) interned: the first column of the queue's index, so that a claim skips the whole
-- range of a topic whose destination is paused.
create table postrider.route (
  id         int generated always as identity primary key,
  namespace  text collate "C" not null,
  topic      text collate "C" not null,
  created_at timestamptz not null default now(),
  unique (namespace, topic)
);

-- One row of settings. Payloads of up to 4096 bytes are always allowed, so most enqueues need not look here.
create table postrider.engine (
  one               boolean primary key default true check (one),
  max_payload_bytes int not null default 1048576 check (max_payload_bytes between 4096 and 67108864)
);
insert into postrider.engine default values;

-- The doorbell: 1 while a relay sleeps and wants to be rung, else 0. Every enqueue reads it, and relays
-- write it whenever they fall asleep or get busy. A sequence is changed in place; a row would leave
-- dead versions behind, and while an old snapshot keeps those from being removed every enqueue would walk
-- over them.
create sequence postrider.doorbell minvalue 0 maxvalue 1;
select setval('postrider.doorbell', 0);

-- The log. Partitioned by UUIDv7, whose leading bits are its time: retention is DROP PARTITION.
create table postrider.message (
  id             uuid not null primary key,
  created_at     timestamptz not null,
  not_before     timestamptz,
  key_id         bigint,
  sequence       bigint,
  route          int not null,
  tenant         text collate "C",
  aggregate_type text collate "C",
  aggregate_id   text collate "C",
  event_type     text,
  ordering_key   text,
  dedupe_key     text,
  content_type   text,            -- null: application/json
  headers        jsonb,
  payload        bytea not null
) partition by range (id);
-- All but the primary key are partial: a message pays only for the fields it has.
create index message_by_aggregate on postrider.message (aggregate_type, aggregate_id, id)
  where aggregate_id is not null;
create index message_by_key on postrider.message (key_id, sequence) where key_id is not null;
create index message_by_tenant on postrider.message (tenant, id) where tenant is not null;
-- Catches what no partition was made for, so that a missing one never fails an enqueue.
create table postrider.message_default partition of postrider.message default;

-- lane 0: no key. lane 1..8: the key's lane. Negative (-1 - lane): parked, not claimable before due_at.
create table postrider.queue (
  id       uuid not null,
  key_id   bigint,
  sequence bigint,
  due_at   timestamptz,               -- only while parked; infinity: until something pulls it forward
  lease    bigint,                    -- the claim that holds it; in no index, so a claim is a HOT update
  route    int not null,
  size     int not null,              -- payload bytes, so that a claim can cap what it takes
  lane     smallint not null,
  attempts smallint not null default 0,
  delivery smallint not null default 1,   -- counts up with each requeue or replay
  pull     boolean not null default false, -- followers of this key are parked: pull some when it leaves
  blocked  boolean not null default false, -- a dead head that its key waits for
  primary key (route, lane, id)
) with (
  fillfactor = 45, -- room for a new version of every row: while a batch is claimed, none of the old ones can go
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000,
  autovacuum_vacuum_cost_delay = 0
);
create unique index queue_by_key on postrider.queue (key_id, sequence) where key_id is not null;
create index queue_parked on postrider.queue (due_at) where due_at < 'infinity';
-- In a database that publishes all tables, PostgreSQL refuses to update or delete rows of a table that has neither a
-- primary key nor this.
alter table postrider.queue replica identity full;

-- A claim takes a lane's row lock for the length of its transaction; the row itself never changes.
create table postrider.lane (id smallint primary key);
insert into postrider.lane select generate_series(1, 8);

-- Keys are not numbered without gaps: each message uses a number up, so when all keys have eight messages their numbers
-- differ by eight. The golden ratio (of 2^32), of which the highest bits are taken, spreads them evenly nevertheless.
create function postrider.lane_of(key_id bigint) returns smallint
language sql immutable parallel safe
return coalesce(1 + (key_id % 2147483648 * 2654435769 % 4294967296) / 536870912, 0)::smallint;

-- One row per running claim. The lease is held until somebody takes it, which anyone may after `until`.
create table postrider.lease (
  token      bigint primary key,
  worker     int not null,
  claimed_at timestamptz not null,
  until      timestamptz not null,
  open       int not null,
  ids        uuid[] not null
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
alter table postrider.lease alter column ids set storage external;
-- Tokens start at the clock, in microseconds. So those of a database that replaces another one are higher, and
-- consumers that refuse lower tokens go on. See advance_sequences().
create sequence postrider.lease_token;
select setval('postrider.lease_token', (extract(epoch from clock_timestamp()) * 1000000)::bigint);

create table postrider.worker (
  id         int generated always as identity primary key,
  name       text collate "C" not null unique,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now(),
  stopped_at timestamptz
);

-- Append-only. 1 DISPATCHED, 2 RETRYABLE, 3 FAILED, 4 ZOMBIE_REQUEUE, 5 CONFLICT; the running attempt
-- is the lease itself and shows as DISPATCHING in the attempts view.
create table postrider.attempt (
  message_id  uuid not null,
  claimed_at  timestamptz,
  finished_at timestamptz not null,
  worker      int,
  latency_ms  int,
  no          smallint not null,
  delivery    smallint not null,
  state       smallint not null,
  code        text,
  error       text,
  reference   text
) partition by range (finished_at);
create index attempt_by_message on postrider.attempt (message_id);
create table postrider.attempt_default partition of postrider.attempt default;
-- As on queue: there is no primary key. New partitions take it from here, see partition_like().
alter table postrider.attempt replica identity full;
alter table postrider.attempt_default replica identity full;

-- The number is unique by its index: in a copy of the database whose sequence was left behind, a new key must fail
-- rather than share an old number.
create table postrider.ordering_key (
  id            bigint generated always as identity primary key,
  namespace     text collate "C" not null,
  key           text collate "C" not null,
  last_sequence bigint not null,
  unique (namespace, key)
) with (fillfactor = 50);

create table postrider.dedupe (
  route      int not null,
  dedupe_key text collate "C" not null,
  message_id uuid not null,
  sequence   bigint,                  -- only once the message is archived; before, it has its sequence itself
  primary key (route, dedupe_key)
);

create table postrider.dead_letter (
  message_id  uuid not null,
  delivery    smallint not null,
  route       int not null,
  key_id      bigint,
  sequence    bigint,
  attempts    smallint not null,
  blocking    boolean not null default false,
  died_at     timestamptz not null,
  code        text,
  error       text,
  resolved_at timestamptz,
  resolution  text check (resolution in ('requeued', 'discarded')),
  resolved_by text,
  reason      text,
  primary key (message_id, delivery)
);
create index dead_letter_open on postrider.dead_letter (died_at, message_id) where resolved_at is null;

-- Content of messages that were delivered with a remote reference, for worker-side content dedupe.
create table postrider.delivered_content (
  route      int not null,
  sha256     bytea not null,
  message_id uuid not null,
  reference  text not null,
  primary key (route, sha256)
);

create table postrider.pause (
  kind      text collate "C" not null check (kind in ('destination', 'topic')),
  name      text collate "C" not null,
  paused_by text not null,
  paused_at timestamptz not null default now(),
  primary key (kind, name)
);

create table postrider.audit (
  id     bigint generated always as identity primary key,
  at     timestamptz not null default now(),
  actor  text not null,
  action text not null,
  detail jsonb not null default '{}',
  count  bigint
);

create table postrider.inbox (
  consumer     text collate "C" not null,
  message_id   uuid not null,
  processed_at timestamptz not null default now(),
  primary key (consumer, message_id)
);
create table postrider.inbox_sequence (
  consumer      text collate "C" not null,
  ordering_key  text collate "C" not null,
  last_sequence bigint not null,
  primary key (consumer, ordering_key)
) with (fillfactor = 50);
