create table if not exists orders (id text primary key, cents bigint not null);
create table if not exists mails (order_id text not null);
