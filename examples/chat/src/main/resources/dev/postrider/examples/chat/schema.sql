create schema if not exists chat;

create table if not exists chat.session (
  project text not null,
  id      text not null,
  primary key (project, id)
);

-- The history of the chat: what was said, whatever becomes of the events.
create table if not exists chat.message (
  id      uuid primary key, -- also the event's id
  project text not null,
  session text not null,
  number  bigint not null,  -- the outbox gives it: the order of commits
  author  text not null,
  body    text not null,
  sent_at timestamptz not null default now(),
  foreign key (project, session) references chat.session,
  unique (project, session, number)
);
