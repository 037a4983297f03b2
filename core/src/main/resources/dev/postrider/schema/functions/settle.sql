-- Removes the rows that are delivered (1) or dead (3) and appends their attempts. p_tid is where each row was claimed.
-- A row that has moved since, or that p_token does not hold, is left for the caller. The rows are read in one scan by
-- their tid and joined by a hash: an index probe for each row costs as much as its deletion.
create or replace function postrider.settle_gone(
  p_worker int, p_tid tid[], p_id uuid[], p_token bigint[], p_outcome smallint[], p_latency_ms int[],
  p_code text[], p_error text[], p_reference text[], p_leases bigint[], p_claimed_at timestamptz[],
  out done uuid[], out tokens bigint[], out pulls bigint[], out remembered uuid[], out routes int[], out refs text[])
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_nestloop = off set enable_mergejoin = off
set enable_hashjoin = on -- settle() has it off
as $$
begin
  with given as materialized (
    select * from unnest(p_id, p_token, p_outcome, p_latency_ms, p_code, p_error, p_reference)
      as g(id, token, outcome, latency_ms, code, error, reference)
     where g.outcome in (1, 3)),
  gone as (
    delete from postrider.queue q using given g
     where q.ctid = any (p_tid) and q.id = g.id and q.lease = g.token
    returning q.id, q.route, q.lease, q.key_id, q.sequence, q.attempts, q.delivery, q.subscription, q.pull,
              g.outcome, g.latency_ms, g.code, g.error, g.reference),
  recorded as (
    insert into postrider.attempt (message_id, claimed_at, finished_at, worker, latency_ms, no, delivery,
      state, subscription, code, error, reference)
    select g.id, p_claimed_at[array_position(p_leases, g.lease)], now(), p_worker, g.latency_ms, least(g.attempts, 32766) + 1,
           g.delivery, g.outcome, g.subscription, g.code, g.error, g.reference
      from gone g),
  buried as (
    insert into postrider.dead_letter (message_id, subscription, delivery, route, key_id, sequence, attempts, died_at,
      code, error)
    select g.id, g.subscription, g.delivery, g.route, g.key_id, case when g.key_id is not null then g.sequence end,
           least(g.attempts, 32766) + 1,
           now(), g.code, g.error
      from gone g where g.outcome = 3
    on conflict do nothing)
  select coalesce(array_agg(g.id), '{}'), coalesce(array_agg(g.lease), '{}'),
         array_agg(g.key_id) filter (where g.pull),
         array_agg(g.id) filter (where g.outcome = 1 and g.reference is not null),
         array_agg(g.route) filter (where g.outcome = 1 and g.reference is not null),
         array_agg(g.reference) filter (where g.outcome = 1 and g.reference is not null)
    into done, tokens, pulls, remembered, routes, refs from gone g;
end $$;

-- Records the outcomes of claimed messages. The arrays are parallel; those for failures may be null or shorter. Each
-- message occurs once: deliveries of one message to several subscriptions need several calls. Outcomes: 1 delivered, 2
-- retry (at p_due_at, else after p_delay_ms), 3 dead, 4 dead and its key waits, 5 released unsent, 6 deferred (like 2,
-- but no attempt is counted, and none is recorded without a code). A row is changed only while p_token holds it. The
-- ids of the other rows are returned, and each is recorded as a CONFLICT. p_tid, from claim(), saves a search. p_route
-- is the route of a named subscription, for conflicts.
create or replace function postrider.settle(
  p_worker int, p_id uuid[], p_token bigint[], p_outcome smallint[],
  p_latency_ms int[] default null, p_delay_ms bigint[] default null, p_code text[] default null,
  p_error text[] default null, p_reference text[] default null, p_due_at timestamptz[] default null,
  p_tid tid[] default null, p_route int[] default null)
returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_tid    tid[] := p_tid;
  v_leases record;
  v_gone   record;
  v_left   uuid[];
  v_done   uuid[] := '{}';
  v_tokens bigint[] := '{}';
  v_pulls  bigint[];
  v_more   record;
  v_late   record;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform postrider.check_isolation();
  end if;
  -- Locks leases before rows, like reap(), to avoid a deadlock between the two.
  select array_agg(l.token) as tokens, array_agg(l.claimed_at) as claimed_at into v_leases
    from (select l.token, l.claimed_at from postrider.lease l
           where l.token = any (p_token) order by l.token for update) l;

  for v_round in 1 .. 2 loop
    -- A leased row moves only if later rows of its key are hidden, or if a worker renews it.
    if v_tid is null then
      v_left := array(
        select g.id from unnest(p_id, p_outcome) as g(id, outcome)
         where g.outcome in (1, 3) and not g.id = any (v_done));
      v_tid := array(select q.tid from postrider.queue_rows(v_left) q where q.lease = any (p_token));
    end if;
    exit when v_tid = '{}';
    v_gone := postrider.settle_gone(
      p_worker, v_tid, p_id, p_token, p_outcome, p_latency_ms, p_code, p_error, p_reference,
      v_leases.tokens, v_leases.claimed_at);
    v_done := v_done || v_gone.done;
    v_tokens := v_tokens || v_gone.tokens;
    v_pulls := v_pulls || v_gone.pulls;
    if v_gone.remembered is not null then
      insert into postrider.delivered_content (route, sha256, message_id, reference)
      select r.route, sha256(m.payload), m.id, r.reference
        from unnest(v_gone.remembered, v_gone.routes, v_gone.refs) r(id, route, reference)
        join postrider.message m on m.id = r.id
       order by 1, 2  -- two batches with the same contents must not insert them crosswise
      on conflict do nothing;
    end if;
    exit when cardinality(v_done) = cardinality(p_id);
    v_tid := null;
  end loop;

  -- Repeats while a row is left that this token holds: a concurrent mark may have moved it.
  while cardinality(v_done) < cardinality(p_id) loop
    exit when not exists (
      select from unnest(p_id, p_token, p_outcome) g(id, token, outcome) cross join lateral (
        select from postrider.queue_rows(array[g.id]) q where q.lease = g.token limit 1) q
       where g.outcome in (2, 4, 5, 6) and not g.id = any (v_done));
    select * into v_more from postrider.settle_undelivered(
      p_worker, p_id, p_token, p_outcome, p_latency_ms, p_delay_ms, p_code, p_error, p_due_at);
    v_done := v_done || v_more.done;
    v_tokens := v_tokens || v_more.tokens;
  end loop;

  -- A lease without rows ends.
  with closed as materialized (select t.token, count(*) as n from unnest(v_tokens) t(token) group by 1),
  ended as (
    delete from postrider.lease l using closed c where l.token = c.token and l.open <= c.n)
  update postrider.lease l set open = l.open - c.n from closed c where l.token = c.token and l.open > c.n;

  if v_pulls is not null then
    perform postrider.show_followers(v_pulls);
  end if;
  if cardinality(v_done) < cardinality(p_id) then
    select array_agg(g.id) as ids, array_agg(g.latency_ms) as latencies,
           array_agg((array['delivered', 'retry', 'dead', 'dead', 'released', 'deferred'])[g.outcome]) as whats,
           array_agg(coalesce(g.error, g.code)) as errors, array_agg(g.reference) as refs,
           array_agg(g.route) as routes
      into v_late
      from unnest(p_id, p_outcome, p_latency_ms, p_code, p_error, p_reference, p_route)
        as g(id, outcome, latency_ms, code, error, reference, route)
     where not g.id = any (v_done);
    if v_late.ids is not null then
      perform postrider.record_conflicts(
        p_worker, v_late.ids, v_late.whats, v_late.latencies, v_late.errors, v_late.refs, v_late.routes);
      return v_late.ids;
    end if;
  end if;
  return '{}';
end $$;

-- Records a conflict: the worker, its outcome, and the state of the message. The reference is kept, because the
-- destination may have taken the message.
create or replace function postrider.record_conflicts(
  p_worker int, p_id uuid[], p_what text[], p_latency_ms int[] default null, p_error text[] default null,
  p_reference text[] default null, p_route int[] default null)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  insert into postrider.attempt (message_id, finished_at, worker, latency_ms, no, delivery, state, subscription, code,
    error, reference)
  select c.id, now(), p_worker, c.latency_ms, 0, 0, 5, coalesce(r.number, 0), c.what,
         'found ' || coalesce(s.state || coalesce(', held by ' || s.locked_by, ''), 'no such message')
         || coalesce('; reported: ' || c.error, ''),
         c.reference
    from unnest(p_id, p_what, p_latency_ms, p_error, p_reference, p_route)
      as c(id, what, latency_ms, error, reference, route)
    left join postrider.route r on r.id = c.route
    left join lateral (
      select s.state, s.locked_by from postrider.delivery_state s
       where s.id = c.id and s.subscription = coalesce(r.subscription, '') limit 1) s on true;
end $$;

-- The rare part of settle: rows that stay in the queue. Any outcome clears the count of lost leases, by which a
-- message is suspected of killing relays.
create or replace function postrider.settle_undelivered(
  p_worker int, p_id uuid[], p_token bigint[], p_outcome smallint[],
  p_latency_ms int[], p_delay_ms bigint[], p_code text[], p_error text[], p_due_at timestamptz[],
  out done uuid[], out tokens bigint[])
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
begin
  with given as materialized (
    select g.*, q.tid, l.claimed_at from unnest(
        p_id, p_token, p_outcome, p_latency_ms, p_delay_ms, p_code, p_error, p_due_at)
      as g(id, token, outcome, latency_ms, delay_ms, code, error, due_at)
     cross join lateral (
       select q.tid from postrider.queue_rows(array[g.id]) q where q.lease = g.token limit 1) q
      left join postrider.lease l on l.token = g.token
     where g.outcome in (2, 4, 5, 6)),
  kept as (
    update postrider.queue q set
        lease = null,
        lane = case when g.outcome = 5 and q.lost_leases < postrider.suspect_after() then q.lane else -1 - q.lane end,
        due_at = case when g.outcome in (2, 6)
                      then coalesce(g.due_at, now() + greatest(g.delay_ms, 0) * interval '1 ms')
                      when g.outcome = 4 then 'infinity'
                      when g.outcome = 5 and q.lost_leases >= postrider.suspect_after() then now() end,
        blocked = g.outcome = 4,
        attempts = case when g.outcome in (2, 4) then least(q.attempts, 32766) + 1 else q.attempts end,
        lost_leases = case when g.outcome = 5 or g.code is null then q.lost_leases else 0 end
      from given g
     where q.ctid = g.tid and q.lease = g.token
    returning q.id, q.route, q.key_id, q.sequence, q.attempts, q.delivery, q.subscription, g.token, g.outcome,
              g.claimed_at, g.latency_ms, g.code, g.error),
  recorded as (
    insert into postrider.attempt (message_id, claimed_at, finished_at, worker, latency_ms, no, delivery,
      state, subscription, code, error)
    select k.id, k.claimed_at, now(), p_worker, k.latency_ms, k.attempts, k.delivery,
           case k.outcome when 4 then 3 else 2 end, k.subscription, k.code, k.error
      from kept k where k.outcome in (2, 4) or k.outcome = 6 and k.code is not null),
  buried as (
    insert into postrider.dead_letter (message_id, subscription, delivery, route, key_id, sequence, attempts, blocking,
      died_at, code, error)
    select k.id, k.subscription, k.delivery, k.route, k.key_id, k.sequence, k.attempts, true, now(), k.code, k.error
      from kept k where k.outcome = 4
    on conflict do nothing)
  select coalesce(array_agg(k.id), '{}'), coalesce(array_agg(k.token), '{}') into done, tokens from kept k;
end $$;

-- A worker names a message by its id, so it may hold the message for only one subscription.
create or replace function postrider.refuse_held_twice(p_worker int, p_id uuid) returns void
language plpgsql as $$
begin
  perform postrider.refuse_act(format('the worker holds message %s for two subscriptions, %s; give each subscription a '
    || 'worker of its own', p_id, (
      select string_agg(coalesce(nullif(r.subscription, ''), 'default'), ' and ' order by r.number)
        from postrider.queue_rows(array[p_id]) q
        join postrider.lease l on l.token = q.lease and l.worker = p_worker
        join postrider.route r on r.id = q.route)));
end $$;

-- Of these named subscriptions the one of the message's topic.
create or replace function postrider.route_of(p_id uuid, p_routes int[]) returns int
language sql stable as $$
  select r.id from postrider.message m join postrider.route r on r.topic_id = m.route
   where m.id = p_id and r.topic_id > 0 and r.id = any (p_routes) limit 1
$$;

-- settle() for workers that have a message's id and their own name, but no token. It locks the leases that it found
-- and looks the tokens up again, until they do not change: a renewal on another connection gives a row a new token.
-- p_routes: the named subscriptions that the worker claims from, for conflicts.
create or replace function postrider.settle_held(
  p_worker int, p_id uuid[], p_outcome smallint, p_delay_ms bigint default null, p_code text default null,
  p_error text default null, p_reference text default null, p_due_at timestamptz default null,
  p_routes int[] default null)
returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v        record;
  v_locked bigint[] := '{}';
  v_n      int := cardinality(p_id);
begin
  perform postrider.check_isolation();
  if v_n = 0 then
    return '{}';
  end if;
  loop
    select array_agg(i.id) as ids, array_agg(coalesce(q.token, 0)) as tokens,
           -- A message without a key blocks nothing.
           array_agg(case when p_outcome = 4 and q.key_id is null then 3 else p_outcome end) as outcomes,
           (array_agg(i.id) filter (where q.held > 1))[1] as twice,
           array_agg(case when p_routes <> '{}' and q.token is null then postrider.route_of(i.id, p_routes) end) as routes
      into v
      from unnest(p_id) i(id)
      left join lateral (
        select q.key_id, l.token, count(l.token) over () as held from postrider.queue_rows(array[i.id]) q
          left join postrider.lease l on l.token = q.lease and l.worker = p_worker
         order by l.token is null limit 1) q on true;
    if v.twice is not null then
      perform postrider.refuse_held_twice(p_worker, v.twice);
    end if;
    exit when v.tokens <@ v_locked;
    perform from postrider.lease l where l.token = any (v.tokens) order by l.token for update;
    v_locked := v_locked || v.tokens;
  end loop;
  return postrider.settle(p_worker, v.ids, v.tokens,
    v.outcomes::smallint[], null, array_fill(p_delay_ms, array[v_n]),
    array_fill(p_code, array[v_n]), array_fill(p_error, array[v_n]), array_fill(p_reference, array[v_n]),
    array_fill(p_due_at, array[v_n]), null, v.routes);
end $$;
