------------------------------ MODULE Delivery ------------------------------
(* One ordering key in several subscriptions: fan-out, claims, leases, fencing, retry, stuck keys.       *)
(* Each action is one transaction of the engine, or one step of a relay between two transactions.        *)
(* A row of the queue is a message in a subscription. The first row of a subscription is its head.       *)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Relays,     \* processes that claim, send and settle
  Subs,       \* subscriptions of the topic
  Last,       \* messages 1..Last are enqueued, in this order
  Run,        \* a claim takes up to this many messages of the key
  Losses,     \* so many leases end although their relay lives: it was frozen, or slow
  Crashes,    \* so many relays die
  Failures,   \* so many sends fail and are retried
  Deaths,     \* so many sends fail for good: the key waits for an operator, who requeues
  StuckSubs,  \* subscriptions whose target refuses everything, and whose operator never comes
  Mutant      \* "none", or what is wrong with the engine

VARIABLES
  sent,       \* how many messages are committed
  fanned,     \* how many of them have rows in the queue
  row,        \* state of each row
  token,      \* the lease that holds a row, 0 if none
  hidden,     \* rows that claims do not see, behind a stuck head
  mark,       \* rows behind which others may be hidden: when one leaves, the next is shown
  live,       \* leases that have not ended
  run,        \* what each relay sends: a part of the key under one lease
  answers,    \* what each relay has been answered and not yet settled
  seen,       \* messages that reached the target of a subscription
  disorder,   \* whether one arrived before an earlier one of the key
  losses, crashes, failures, deaths

vars == <<sent, fanned, row, token, hidden, mark, live, run, answers, seen, disorder,
          losses, crashes, failures, deaths>>
counters == <<losses, crashes, failures, deaths>>

Messages == 1..Last
None == [sub |-> "none", at |-> 0, to |-> 0, token |-> 0]
Waiting == {"free", "leased", "parked", "blocked"}

Present(s) == {m \in Messages : row[s][m] \in Waiting}
Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Max(S) == CHOOSE x \in S : \A y \in S : x >= y

Init ==
  /\ sent = 0 /\ fanned = 0
  /\ row = [s \in Subs |-> [m \in Messages |-> "none"]]
  /\ token = [s \in Subs |-> [m \in Messages |-> 0]]
  /\ hidden = [s \in Subs |-> {}] /\ mark = [s \in Subs |-> {}]
  /\ live = {}
  /\ run = [r \in Relays |-> None]
  /\ answers = [r \in Relays |-> {}]
  /\ seen = [s \in Subs |-> {}]
  /\ disorder = FALSE
  /\ losses = 0 /\ crashes = 0 /\ failures = 0 /\ deaths = 0

(* A producer commits. The lock on the key makes commit order the sequence order. *)
Enqueue ==
  /\ sent < Last
  /\ sent' = sent + 1
  /\ UNCHANGED <<fanned, row, token, hidden, mark, live, run, answers, seen, disorder, counters>>

(* A relay replaces the topic's row with one for each subscription, in the key's order. *)
FanOut ==
  /\ fanned < sent
  /\ fanned' = fanned + 1
  /\ row' = [s \in Subs |-> [row[s] EXCEPT ![fanned + 1] = "free"]]
  /\ UNCHANGED <<sent, token, hidden, mark, live, run, answers, seen, disorder, counters>>

(* Tokens are used again here once nobody knows them, so that there are finitely many. *)
Used ==
  {token[s][m] : s \in Subs, m \in Messages} \cup {run[r].token : r \in Relays}
  \cup {a.token : a \in UNION {answers[r] : r \in Relays}}
Fresh == Min((1..(Cardinality(Used) + 1)) \ Used)

InFlight(s) == \E m \in Messages : row[s][m] = "leased"
Claimable(s, m) == row[s][m] = "free" /\ m \notin hidden[s]

(* The messages with which a run may start: the head, if it is free. *)
Starts(s) ==
  LET present == Present(s)
      others == {m \in present : row[s][m] # "blocked"}
  IN CASE Mutant = "no head check" -> {m \in present : Claimable(s, m)}
       [] Mutant = "released too early" ->
            {m \in others : m = Min(others) /\ Claimable(s, m) /\ ~InFlight(s)}
       [] OTHER -> {m \in present : m = Min(present) /\ Claimable(s, m) /\ ~InFlight(s)}

(* The run ends before the first message that may not go; it includes hidden ones. *)
End(s, start) ==
  Max({m \in start..Last : m < start + Run /\ \A i \in start..m : row[s][i] = "free"})

Claim(r, s) ==
  /\ run[r] = None /\ answers[r] = {}
  /\ \E start \in Starts(s) :
       LET end == End(s, start)
           lease == Fresh
       IN /\ row' = [row EXCEPT ![s] =
                 [m \in Messages |-> IF m \in start..end THEN "leased" ELSE row[s][m]]]
          /\ token' = [token EXCEPT ![s] =
                 [m \in Messages |-> IF m \in start..end THEN lease ELSE token[s][m]]]
          /\ mark' = [mark EXCEPT ![s] = @ \cup (hidden[s] \cap (start..end))]
          /\ hidden' = [hidden EXCEPT ![s] = @ \ (start..end)]
          /\ live' = live \cup {lease}
          /\ run' = [run EXCEPT ![r] = [sub |-> s, at |-> start, to |-> end, token |-> lease]]
  /\ UNCHANGED <<sent, fanned, answers, seen, disorder, counters>>

Answer(r, m, what) == [sub |-> run[r].sub, message |-> m, token |-> run[r].token, what |-> what]

(* The target has the message, also if the relay's lease has ended meanwhile. The next one of the run follows. *)
Deliver(r) ==
  /\ run[r] # None /\ run[r].sub \notin StuckSubs
  /\ LET s == run[r].sub
         m == run[r].at
     IN /\ disorder' = (disorder \/ \E before \in 1..(m - 1) : before \notin seen[s])
        /\ seen' = [seen EXCEPT ![s] = @ \cup {m}]
        /\ answers' = [answers EXCEPT ![r] = @ \cup {Answer(r, m, "delivered")}]
        /\ run' = [run EXCEPT ![r] = IF m = run[r].to THEN None ELSE [@ EXCEPT !.at = m + 1]]
  /\ UNCHANGED <<sent, fanned, row, token, hidden, mark, live, counters>>

(* After a failure the rest of the run is given back unsent. *)
Fail(r, what) ==
  /\ run[r] # None
  /\ answers' = [answers EXCEPT ![r] = @ \cup {Answer(r, run[r].at, what)}
                     \cup {Answer(r, m, "released") : m \in (run[r].at + 1)..run[r].to}]
  /\ run' = [run EXCEPT ![r] = None]
  /\ UNCHANGED <<sent, fanned, row, token, hidden, mark, live, seen, disorder, losses, crashes>>

Retry(r) ==
  /\ failures < Failures /\ run[r].sub \notin StuckSubs
  /\ failures' = failures + 1 /\ UNCHANGED deaths
  /\ Fail(r, "parked")

Die(r) ==
  /\ run[r].sub \in StuckSubs \/ deaths < Deaths
  /\ deaths' = IF run[r].sub \in StuckSubs THEN deaths ELSE deaths + 1
  /\ UNCHANGED failures
  /\ Fail(r, "blocked")

(* When a marked message leaves the queue, the next one is shown and marked. *)
ShowNext(s, m) ==
  LET left == Present(s) \ {m}
      next == IF m \in mark[s] /\ left # {} /\ Mutant # "never released" THEN {Min(left)} ELSE {}
  IN /\ hidden' = [hidden EXCEPT ![s] = @ \ next]
     /\ mark' = [mark EXCEPT ![s] = (@ \ {m}) \cup next]

(* A settlement counts only while its token holds the row. *)
Settle(r) ==
  \E a \in answers[r] :
    LET s == a.sub
        m == a.message
        holds == row[s][m] = "leased" /\ (token[s][m] = a.token \/ Mutant = "no fence")
    IN /\ answers' = [answers EXCEPT ![r] = @ \ {a}]
       /\ IF holds
          THEN /\ row' = [row EXCEPT ![s][m] =
                     CASE a.what = "delivered" -> "gone"
                       [] a.what = "released" -> "free"
                       [] OTHER -> a.what]
               /\ token' = [token EXCEPT ![s][m] = 0]
               /\ IF a.what = "delivered" THEN ShowNext(s, m) ELSE UNCHANGED <<hidden, mark>>
          ELSE UNCHANGED <<row, token, hidden, mark>>
       /\ UNCHANGED <<sent, fanned, live, run, seen, disorder, counters>>

(* A claim that meets stuck keys hides what waits behind their heads. *)
Hide(s) ==
  /\ Present(s) # {}
  /\ LET head == Min(Present(s))
         behind == {m \in Present(s) : m # head /\ Claimable(s, m)}
     IN /\ row[s][head] \in {"parked", "blocked"}
        /\ behind # {}
        /\ hidden' = [hidden EXCEPT ![s] = @ \cup behind]
        /\ mark' = [mark EXCEPT ![s] = @ \cup {head}]
  /\ UNCHANGED <<sent, fanned, row, token, live, run, answers, seen, disorder, counters>>

(* The pause of a retry is over. *)
Due(s) ==
  /\ \E m \in Messages :
       row[s][m] = "parked" /\ row' = [row EXCEPT ![s][m] = "free"]
  /\ UNCHANGED <<sent, fanned, token, hidden, mark, live, run, answers, seen, disorder, counters>>

(* An operator sends a dead message again. *)
Requeue(s) ==
  /\ s \notin StuckSubs
  /\ \E m \in Messages :
       row[s][m] = "blocked" /\ row' = [row EXCEPT ![s][m] = "free"]
  /\ UNCHANGED <<sent, fanned, token, hidden, mark, live, run, answers, seen, disorder, counters>>

Owned(t) == \E r \in Relays : run[r].token = t \/ \E a \in answers[r] : a.token = t

Reap(t) ==
  /\ row' = [s \in Subs |-> [m \in Messages |-> IF token[s][m] = t THEN "free" ELSE row[s][m]]]
  /\ token' = [s \in Subs |-> [m \in Messages |-> IF token[s][m] = t THEN 0 ELSE token[s][m]]]
  /\ live' = live \ {t}
  /\ UNCHANGED <<sent, fanned, hidden, mark, run, answers, seen, disorder>>

(* The lease of a relay that lives, and does not know. *)
Lose ==
  /\ losses < Losses
  /\ \E t \in live : Owned(t) /\ Reap(t)
  /\ losses' = losses + 1
  /\ UNCHANGED <<crashes, failures, deaths>>

(* The lease of a relay that is dead, or one that ended with its last settlement. *)
End_ ==
  /\ \E t \in live : ~Owned(t) /\ Reap(t)
  /\ UNCHANGED counters

Crash(r) ==
  /\ crashes < Crashes
  /\ run[r] # None \/ answers[r] # {}
  /\ run' = [run EXCEPT ![r] = None]
  /\ answers' = [answers EXCEPT ![r] = {}]
  /\ crashes' = crashes + 1
  /\ UNCHANGED <<sent, fanned, row, token, hidden, mark, live, seen, disorder, losses, failures, deaths>>

Next ==
  \/ Enqueue \/ FanOut \/ Lose \/ End_
  \/ \E s \in Subs : Hide(s) \/ Due(s) \/ Requeue(s)
  \/ \E r \in Relays : Deliver(r) \/ Retry(r) \/ Die(r) \/ Settle(r) \/ Crash(r)
  \/ \E r \in Relays, s \in Subs : Claim(r, s)

(* What must happen in the end. Nobody must hide, fail, crash or lose a lease. *)
Fairness ==
  /\ WF_vars(Enqueue) /\ WF_vars(FanOut) /\ WF_vars(End_)
  /\ \A s \in Subs : WF_vars(Due(s)) /\ WF_vars(Requeue(s)) /\ WF_vars(\E r \in Relays : Claim(r, s))
  /\ \A r \in Relays : WF_vars(Settle(r)) /\ WF_vars(Deliver(r) \/ Retry(r) \/ Die(r))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* I1: a row leaves the queue only when its message has arrived. *)
NothingLost == \A s \in Subs, m \in Messages : row[s][m] = "gone" => m \in seen[s]

(* I2 *)
NothingInvented == \A s \in Subs : \A m \in seen[s] : m <= sent

(* I3 *)
InOrder == ~disorder

(* I3, I5: of each subscription one relay at a time sends under a lease that has not ended. *)
OneInFlight ==
  \A s \in Subs :
    Cardinality({r \in Relays : run[r].sub = s /\ run[r].token \in live}) <= 1

(* I10, also of a subscription beside one that is stuck. *)
EverythingArrives == \A s \in Subs \ StuckSubs : <>(seen[s] = Messages)
=============================================================================
