-- The chat product's own tables.
create schema if not exists mini_chat;

create table if not exists mini_chat.quota (
  tenant       uuid primary key,
  credit_limit bigint not null,
  used         bigint not null default 0
);

create table if not exists mini_chat.turn (
  id             uuid primary key default gen_random_uuid(),
  tenant         uuid not null references mini_chat.quota,
  request        uuid not null,
  user_name      text,
  -- What the client sent, and what the provider calls it: neither ever leaves with a usage message.
  prompt         text not null,
  provider_id    text,
  -- The policy as it was when the turn began; prices in credits per 1000 tokens.
  model          text not null,
  policy_version int not null,
  input_price    int not null,
  output_price   int not null,
  max_output     int not null,
  -- What is known while it streams.
  input_estimate int not null,
  streamed       int not null default 0,
  -- What was settled in the end.
  state          text not null default 'streaming'
                 check (state in ('streaming', 'completed', 'failed', 'cancelled')),
  input_tokens   int,
  output_tokens  int,
  credits        bigint generated always as
                 ((input_tokens::bigint * input_price + output_tokens::bigint * output_price + 999) / 1000) stored
);

create table if not exists mini_chat.debit (
  turn    uuid primary key references mini_chat.turn,
  tenant  uuid not null,
  credits bigint not null
);

-- The billing system's tables, which stand in for another company's database.
create schema if not exists billing;

create table if not exists billing.ledger (
  dedupe_key text primary key,
  tenant     uuid not null,
  credits    bigint not null,
  line       jsonb not null
);

create table if not exists billing.account (
  tenant  uuid primary key,
  balance bigint not null
);
