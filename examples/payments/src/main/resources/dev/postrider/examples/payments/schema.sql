create schema if not exists payments;

create table if not exists payments.instruction (
  id              text primary key,
  idempotency_key text not null,
  participant     text not null,
  rail            text not null,
  amount          bigint not null, -- in minor units
  currency        text not null,
  destination     text not null
);

-- The rails' own books, which stand in for other companies' databases.
create schema if not exists rails;

create table if not exists rails.booking (
  no          bigint generated always as identity primary key,
  rail        text not null,
  message     uuid not null unique,
  instruction text not null,
  participant text not null,
  sequence    bigint not null
);

-- The audit: every row is something that must not be. No rows are the proof.
create or replace view payments.audit (finding, subject) as
with message as (
  select m.id, m.aggregate_id as instruction, m.ordering_key as participant, m.sequence, m.state, m.delivery,
         (select count(*) from postrider.attempt_history a
           where a.message_id = m.id and a.state = 'DISPATCHED') as successes,
         exists (select from rails.booking b where b.message = m.id) as booked
    from postrider.message_state m
   where m.namespace = 'payments'),
booking as (
  select b.*, max(b.no) over (partition by b.participant order by b.sequence
                              rows between unbounded preceding and 1 preceding) as latest_before
    from rails.booking b join message m on m.id = b.message
   where m.delivery = 1) -- what an operator sends again comes when the operator says
select 'sequence has a gap or a double', participant from message
 group by participant
having min(sequence) <> 1 or max(sequence) <> count(*) or count(distinct sequence) <> count(*)
union all
select 'instruction without exactly one message', i.id
  from payments.instruction i left join message m on m.instruction = i.id
 group by i.id having count(m.id) <> 1
union all
select 'message without an instruction', m.id::text
  from message m left join payments.instruction i on i.id = m.instruction where i.id is null
union all
select 'delivered without exactly one success', instruction from message
 where state = 'delivered' and successes <> 1
union all
select 'success that is not delivered', instruction from message
 where state <> 'delivered' and successes > 0
union all
select 'delivered, but not in the rail''s books', instruction from message
 where state = 'delivered' and not booked
union all
select 'given up, but in the rail''s books', instruction from message
 where state = 'dead' and booked
union all
select 'booked before an earlier one of its participant', instruction from booking
 where no < latest_before;
