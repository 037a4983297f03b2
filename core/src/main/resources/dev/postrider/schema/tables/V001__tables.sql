-- The three ideas: a message is written once and never updated (message); one narrow row is all that
-- ever changes (queue); what happened is appended (attempt). Delivered means the queue row is gone.
--
-- Names that an index holds are compared by their bytes (collate "C"): the rules of a language can change with the
-- operating system, and then an index no longer finds what it holds, a known dedupe key say.

-- Topics and their named subscriptions, each with a number: the first column of the queue's index, so that a claim
-- skips the whole range of one that is paused.
--
-- The row of a topic has the subscription ''. It is also the topic's default subscription, which has no name. A message
-- of a topic with further subscriptions is queued under the negative number of the topic. A relay then makes one queue
-- row of it for each subscription, see fan_out().
create table postrider.route (
  id           int generated always as identity primary key,
  namespace    text collate "C" not null,
  topic        text collate "C" not null,
  subscription text collate "C" not null default '',
  number       smallint not null default 0,     -- of the subscription within its topic, in queue, attempt and dead_letter
  topic_id     int not null default 0,          -- of a named subscription: the row of its topic
  active       boolean not null default true,   -- false: gets no new messages
  fans_out     boolean not null default false,  -- of a topic: has, or had, named subscriptions
  catching_up  boolean not null default false,  -- of a subscription: earlier messages come first, see replay_step()
  created_at   timestamptz not null default now(),
  unique (namespace, topic, subscription)
);
create index route_by_topic on postrider.route (topic_id, number) where topic_id > 0;

-- One row of settings. Payloads of up to 4096 bytes are always allowed, so most enqueues need not look here.
create table postrider.engine (
  one               boolean primary key default true check (one),
  max_payload_bytes int not null default 1048576 check (max_payload_bytes between 4096 and 67108864),
  max_topics        int not null default 10000 check (max_topics between 1 and 1000000), -- in one namespace
  max_namespaces    int not null default 1000 check (max_namespaces between 1 and 1000000),
  -- Nothing younger is removed, whatever retention a caller asks for.
  least_retention       interval not null default '1 hour' check (least_retention >= interval '0'),
  least_audit_retention interval not null default '30 days' check (least_audit_retention >= interval '0'),
  archive_first         boolean not null default false -- messages are removed only after they were archived
);
insert into postrider.engine default values;

-- The doorbells: 1 while a relay sleeps and wants to be rung, else 0. Every enqueue reads the one of its topic, and
-- relays write them whenever they fall asleep or get busy; several, so that a relay that is busy with one topic does
-- not silence the others. Sequences are changed in place; a row would leave dead versions behind, and while an old
-- snapshot keeps those from being removed every enqueue would walk over them.
create sequence postrider.doorbell_0 minvalue 0 maxvalue 1;
create sequence postrider.doorbell_1 minvalue 0 maxvalue 1;
create sequence postrider.doorbell_2 minvalue 0 maxvalue 1;
create sequence postrider.doorbell_3 minvalue 0 maxvalue 1;
select setval(b, 0) from unnest(array['postrider.doorbell_0', 'postrider.doorbell_1', 'postrider.doorbell_2',
  'postrider.doorbell_3']::regclass[]) b;

-- The log. Partitioned by UUIDv7, whose leading bits are its time: retention is DROP PARTITION.
create table postrider.message (
  id             uuid not null primary key,
  created_at     timestamptz not null,
  not_before     timestamptz,
  key_id         bigint,
  sequence       bigint,
  route          int not null,
  is_json        boolean not null default false, -- enqueue found the payload to be valid JSON, see declares_json()
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

-- One narrow row per undelivered message.
--
-- lane: the fair share a message belongs to, which is its tenant's (see lane_of). A negative lane (-1 - lane) hides the
-- row from claims, which read lanes from 0 up:
--   due_at has a time     waits for it (a delay or a retry), and so do the later messages of its key
--   due_at is infinity    blocked: dead, and its key waits for an operator
--                         else a later message of a key whose first one cannot go; it is claimed together with that one
create table postrider.queue (
  id       uuid not null,
  key_id   bigint,                    -- of a named subscription: see subscription_key()
  sequence bigint not null,           -- without a key id_number(id), its age
  due_at   timestamptz,               -- only in a negative lane
  lease    bigint,                    -- the claim that holds it; in no index, so a claim is a HOT update
  route    int not null,
  size     int not null,              -- bytes of payload and headers, so that a claim can cap what it takes
  lane     int not null,
  attempts smallint not null default 0,   -- answers of the destination, in this delivery
  lost_leases smallint not null default 0, -- leases that ended without an answer, in this delivery
  delivery smallint not null default 1,   -- counts up with each requeue or replay
  subscription smallint not null default 0, -- route.number
  pull     boolean not null default false, -- later messages of this key may be hidden: show the next when this one leaves
  blocked  boolean not null default false  -- a dead message that its key waits for
) with (
  fillfactor = 45, -- room for a new version of every row: while a batch is claimed, none of the old ones can go
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000,
  autovacuum_vacuum_cost_delay = 0
);
-- What claims read: topics, their tenants, and of each the messages without a key by age, then key by key.
create index queue_walk on postrider.queue (route, lane, key_id, sequence);
-- A key's messages in their order, whatever their topic and tenant.
create unique index queue_by_key on postrider.queue (key_id, sequence) where key_id is not null;
-- Suspects, see suspect_after().
create index queue_suspects on postrider.queue (route, key_id, due_at) where lost_leases >= 3::smallint;
create index queue_parked on postrider.queue (due_at) where due_at < 'infinity' and lost_leases < 3::smallint;
-- Messages that are not fanned out yet.
create index queue_to_fan_out on postrider.queue (route, key_id, sequence) where route < 0;
-- In a database that publishes all tables, PostgreSQL refuses to update or delete rows of a table that has neither a
-- primary key nor this.
alter table postrider.queue replica identity full;

-- One row per running claim. The lease is held until somebody takes it, which anyone may after `until`.
create table postrider.lease (
  token      bigint primary key,
  worker     int not null,
  claimed_at timestamptz not null,
  until      timestamptz not null,
  open       int not null,
  ids        uuid[] not null,
  keys       bigint[],         -- of the messages with a key, each once
  lasts      bigint[]          -- the last sequence it took of each of them
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
alter table postrider.lease alter column ids set storage external, alter column keys set storage external,
  alter column lasts set storage external;
-- Tokens start at the clock, in microseconds. So those of a database that replaces another one are higher, and
-- consumers that refuse lower tokens go on. See advance_sequences().
create sequence postrider.lease_token;
select setval('postrider.lease_token', (extract(epoch from clock_timestamp()) * 1000000)::bigint);

-- Two processes may have the same name, during a rolling update say; instance tells them apart.
create table postrider.worker (
  id         int generated always as identity primary key,
  name       text collate "C" not null,
  instance   text collate "C" not null default '',
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now(),
  stopped_at timestamptz,
  unique (name, instance)
);

-- Append-only. 1 DISPATCHED, 2 RETRYABLE, 3 FAILED, 4 ZOMBIE_REQUEUE, 5 CONFLICT. A running attempt has no row here: the
-- view attempt_history shows it as DISPATCHING, from the lease.
create table postrider.attempt (
  message_id  uuid not null,
  claimed_at  timestamptz,
  finished_at timestamptz not null,
  worker      int,
  latency_ms  int,
  no          smallint not null,
  delivery    smallint not null,
  state       smallint not null,
  subscription smallint not null default 0,
  code        text,
  error       text,
  reference   text
) partition by range (finished_at);
create index attempt_by_message on postrider.attempt (message_id);
create table postrider.attempt_default partition of postrider.attempt default;
-- As on queue: there is no primary key. New partitions take it from here, see partition_like().
alter table postrider.attempt replica identity full;
alter table postrider.attempt_default replica identity full;

-- The last sequence of each key. A row counts 64 messages, then another one goes on with the next generation: index
-- entries of dead row versions, which a long transaction or an old snapshot keeps, stay behind the newest row, and are
-- never walked over. The row of generation 0 stays, so that a key is made only once.
-- Its number is unique: in a copy of the database whose sequence was left behind, a new key must fail rather than share
-- an old number.
create table postrider.ordering_key (
  id            bigint generated by default as identity,
  namespace     text collate "C" not null,
  key           text collate "C" not null,
  generation    bigint not null default 0, -- last_sequence / 64; 0 for the first row, see key_floor
  last_sequence bigint not null,
  used_at       timestamptz not null default now(), -- in no index, so that counting stays a HOT update
  primary key (namespace, key, generation)
) with (fillfactor = 50);
create unique index ordering_key_id on postrider.ordering_key (id) where generation = 0;

-- Keys that were idle for long are removed, see retire_keys(). A key that comes back must not reuse a number, so new keys
-- start above the highest number that any removed key had. Producers read that number from the sequence: it is changed
-- in place and seen at once, whatever their isolation level. The table holds the same number for copies of the database,
-- since logical replication leaves sequences behind. See advance_sequences().
create table postrider.key_floor (
  one           boolean primary key default true check (one),
  last_sequence bigint not null
);
create sequence postrider.key_floor_now minvalue 0 owned by postrider.key_floor.last_sequence;

create table postrider.dedupe (
  route      int not null,
  dedupe_key text collate "C" not null,
  message_id uuid not null,
  sequence   bigint,                  -- only once the message is archived; before, it has its sequence itself
  primary key (route, dedupe_key)
);

create table postrider.dead_letter (
  message_id  uuid not null,
  subscription smallint not null default 0,
  delivery    smallint not null,
  route       int not null,    -- of its subscription
  key_id      bigint,          -- as in queue
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
  primary key (message_id, subscription, delivery)
);
create index dead_letter_open on postrider.dead_letter (died_at, message_id) where resolved_at is null;
create index dead_letter_blocking on postrider.dead_letter (died_at, message_id)
  where resolved_at is null and blocking;
create index dead_letter_discarded on postrider.dead_letter (died_at, message_id)
  where resolution = 'discarded';

-- Content of messages that were delivered with a remote reference, for worker-side content dedupe.
create table postrider.delivered_content (
  route      int not null,
  sha256     bytea not null,
  message_id uuid not null,
  reference  text not null,
  primary key (route, sha256)
);

create table postrider.pause (
  kind      text collate "C" not null check (kind in ('destination', 'topic', 'subscription')),
  name      text collate "C" not null,
  paused_by text not null,
  paused_at timestamptz not null default now(),
  primary key (kind, name)
);

create table postrider.audit (
  id     bigint generated always as identity primary key,
  at     timestamptz not null default now(),
  actor  text not null,                      -- as told by the caller
  login  text not null default session_user, -- who was logged in to the database
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
  passed_at     timestamptz not null default now(),
  primary key (consumer, ordering_key)
) with (fillfactor = 50);

-- What functions lock to keep each other out, in ROW EXCLUSIVE mode (shared) or SHARE ROW EXCLUSIVE mode (alone). Anybody
-- who can log in may take an advisory lock. A table is locked in these modes only by those who may write to it.
create table postrider.claim_lock (id int primary key);
create table postrider.retention_lock (id int primary key);
create table postrider.replay_lock (id int primary key);
create table postrider.partition_lock (id int primary key);
create table postrider.archive_lock (id int primary key);
create table postrider.stream_lock (id int primary key);
create table postrider.subscription_lock (id int primary key);

create type postrider.enqueued as (id uuid, sequence bigint, duplicate boolean);

create type postrider.batch_item as (
  namespace text, topic text, payload text, key text, dedupe_key text, tenant text, aggregate_type text,
  aggregate_id text, event_type text, headers jsonb, content_type text, not_before timestamptz,
  given_id uuid, payload_bytes bytea, place int, id uuid, is_json boolean);

-- Where a claim is in the messages of one topic and tenant: the last key it has seen or, of the messages without a key,
-- the last sequence.
create type postrider.place as (route int, lane int, keyed boolean, at bigint);

-- What a relay gives back to its next claim, so that it goes on where this one ended.
create type postrider.claim_cursor as (
  places postrider.place[], route int, lane int, -- of the last range that was served
  due_at timestamptz);

create table postrider.replay_job (
  id          bigint generated always as identity primary key,
  filter      jsonb not null,
  ids         uuid[],
  catch_up    int,                     -- the new subscription that gets its earlier messages
  from_id     uuid not null,
  to_id       uuid not null,
  position    uuid,                    -- the last id walked over
  sequence    bigint not null default 0, -- the same for a replay of one key, which walks by sequence
  ahead       uuid[] not null default '{}', -- requeued before their turn, see replay_ahead()
  matched     bigint not null default 0,
  requeued    bigint not null default 0,
  skipped     bigint not null default 0,
  state       text not null default 'running' check (state in ('running', 'stopped', 'done')),
  created_by  text not null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  finished_at timestamptz
) with (fillfactor = 50);

create table postrider.archive_file (
  name       text collate "C" primary key,
  partition  text not null,
  first_id   uuid not null,
  last_id    uuid not null,
  messages   bigint not null,
  bytes      bigint not null,
  sha256     text not null,
  location   text not null,
  written_by text not null,
  written_at timestamptz not null default now()
);

-- Who may use the server. A token's secret is 256 random bits, of which only the SHA-256 is kept: there
-- is nothing to guess, so nothing to slow down. Names are unique among tokens in use, since acts are
-- recorded under them.
create table postrider.token (
  id          bigint generated always as identity primary key,
  name        text collate "C" not null,
  hash        bytea not null check (octet_length(hash) = 32),
  role        text check (role in ('viewer', 'operator', 'admin')),
  permissions text[] not null default '{}',
  tenant      text,                    -- null: all tenants
  namespace   text,                    -- null: all namespaces
  topics      text[] not null default '{}' check (topics = '{}' or namespace is not null), -- of it; empty: all
  created_by  text not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz,
  revoked_by  text,
  revoked_at  timestamptz
);
create unique index token_in_use on postrider.token (name) where revoked_at is null;

-- What the stream destination was given, in an order that readers can follow: a position is never taken by
-- a transaction that commits after a later one, and there are no gaps. So whoever asks for what comes after
-- a position misses nothing, and sees by the next position whether it is still there.
create table postrider.stream_event (
  position       bigint primary key,
  message_id     uuid not null,
  appended_at    timestamptz not null,
  occurred_at    timestamptz not null,
  route          int not null,
  size           int not null,        -- payload bytes, so that a reader can cap what it takes
  delivery       smallint not null,
  tenant         text collate "C",
  aggregate_type text collate "C",
  aggregate_id   text collate "C",
  event_type     text
);
-- The payload stays in message, found by its id when it is read.
create index stream_event_by_route on postrider.stream_event (route, position);
create index stream_event_by_tenant on postrider.stream_event (tenant, position) where tenant is not null;
create index stream_event_by_aggregate on postrider.stream_event (aggregate_type, aggregate_id, position)
  where aggregate_id is not null;

-- What each relay serves, so that operators see the whole fleet from any process. A relay writes these rows when it
-- starts and when a breaker changes. Its heartbeat is worker.seen_at.
--
-- `worker` is the relay's first carrier. Another process may take over the number of a worker that stopped, so a row
-- counts only if its instance is the worker's.
create table postrider.relay (
  worker      int primary key references postrider.worker (id) on delete cascade,
  instance    text collate "C" not null,
  version     text not null,
  host        text not null,
  pid         bigint not null,
  listens     boolean not null, -- false: it polls only, and hears no ring
  recorded_at timestamptz not null default now()
);

create table postrider.relay_destination (
  worker       int not null references postrider.relay (worker) on delete cascade,
  name         text collate "C" not null,
  type         text not null,
  breaker      text not null default 'closed' check (breaker in ('closed', 'open', 'half_open')),
  open_targets int not null default 0,
  changed_at   timestamptz not null default now(), -- of breaker or open_targets
  probe_at     timestamptz, -- while the breaker is open
  primary key (worker, name)
) with (fillfactor = 50);

create table postrider.relay_route (
  worker      int not null references postrider.relay (worker) on delete cascade,
  namespace   text collate "C" not null, -- or *, as in the relay's configuration
  topic       text collate "C" not null, -- or *
  subscription text collate "C" not null default '',
  destination text collate "C" not null,
  primary key (worker, namespace, topic, subscription)
);

-- What is removed after a while, and by whom. Relays do it in small steps, one relay at a time; operators can do the same
-- at once. Nothing that is pending, processing, or dead and unresolved is ever removed.

-- One row per task: what a relay did last, and where it goes on.
create table postrider.retention (
  task         text collate "C" primary key,
  period       interval not null,    -- the retention that was used last
  since        timestamptz not null default now(), -- when it was first started
  wanted_at    timestamptz not null default now(), -- when a relay last had a period for it
  started_at   timestamptz not null, -- of the last run
  finished_at  timestamptz,          -- of the last run that came to its end
  failed_at    timestamptz,          -- null after a run without an error
  error        text,
  last_removed bigint not null default 0, -- by the last run
  removed      bigint not null default 0, -- ever
  oldest       timestamptz,          -- no row that the last run left, or that came later, is older; null if not known
  position     text,                 -- where the run that is not finished goes on
  audit        bigint,               -- the audit row that counts today's removals
  audit_day    date
) with (fillfactor = 50);

-- The relay that carries the tasks out. It extends `until` with every step, so a dead one does not keep others out.
create table postrider.retention_run (
  one    boolean primary key default true check (one),
  holder text not null,
  until  timestamptz not null,
  every  interval not null         -- how often relays look
) with (fillfactor = 50);

-- What the console's charts show: a ring of half an hour, with one point every ten seconds from one of the servers.
create table postrider.chart_point (
  slot  smallint primary key,       -- place in the ring
  at    timestamptz not null,
  point double precision[] not null -- as in the events of /v1/live
) with (fillfactor = 50);
