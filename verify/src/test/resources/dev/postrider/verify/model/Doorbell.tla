------------------------------ MODULE Doorbell ------------------------------
(* Relays that sleep until a producer rings. A producer rings if the flag is up when it writes.          *)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Relays,
  Producers,   \* each writes one message
  LongWrites,  \* TRUE: others act between a producer's write and its commit
  Polls,       \* TRUE: a sleeping relay looks again after its poll interval
  Crashes,     \* so many relays die
  Mutant       \* "none" or "sleeps before the second look"

VARIABLES
  flag,        \* whether producers ring
  visible,     \* committed messages that nobody has claimed
  producer,    \* "idle", "silent" or "ringing" (written, and will ring or not), "done"
  relay,       \* "look", "arm", "again", "sleep", "dead"
  armed,       \* relays that raised the flag and have not lowered it
  rung,        \* relays that a ring has reached
  crashes

vars == <<flag, visible, producer, relay, armed, rung, crashes>>

Init ==
  /\ flag = FALSE /\ visible = 0 /\ armed = {} /\ rung = {} /\ crashes = 0
  /\ producer = [p \in Producers |-> "idle"]
  /\ relay = [r \in Relays |-> "look"]

Listening == {r \in Relays : relay[r] # "dead"}

Commit(p, rings) ==
  /\ visible' = visible + 1
  /\ rung' = IF rings THEN rung \cup Listening ELSE rung
  /\ producer' = [producer EXCEPT ![p] = "done"]

Write(p) ==
  /\ producer[p] = "idle"
  /\ IF LongWrites
     THEN /\ producer' = [producer EXCEPT ![p] = IF flag THEN "ringing" ELSE "silent"]
          /\ UNCHANGED <<visible, rung>>
     ELSE Commit(p, flag)
  /\ UNCHANGED <<flag, relay, armed, crashes>>

Finish(p) ==
  /\ producer[p] \in {"silent", "ringing"}
  /\ Commit(p, producer[p] = "ringing")
  /\ UNCHANGED <<flag, relay, armed, crashes>>

(* A claim, then another one; or nothing is there. *)
Look(r) ==
  /\ relay[r] = "look"
  /\ IF visible > 0
     THEN /\ visible' = visible - 1 /\ UNCHANGED relay
     ELSE /\ relay' = [relay EXCEPT ![r] = IF r \in armed THEN "sleep" ELSE "arm"]
          /\ UNCHANGED visible
  /\ UNCHANGED <<flag, producer, armed, rung, crashes>>

(* A busy relay lowers the flag: it looks for more by itself. *)
Disarm(r) ==
  /\ relay[r] = "look" /\ r \in armed /\ visible > 0
  /\ visible' = visible - 1
  /\ flag' = FALSE
  /\ armed' = armed \ {r}
  /\ UNCHANGED <<producer, relay, rung, crashes>>

Arm(r) ==
  /\ relay[r] = "arm"
  /\ flag' = TRUE
  /\ armed' = armed \cup {r}
  /\ relay' = [relay EXCEPT ![r] = IF Mutant = "none" THEN "again" ELSE "sleep"]
  /\ UNCHANGED <<visible, producer, rung, crashes>>

(* What was committed before the flag went up did not ring. *)
Again(r) ==
  /\ relay[r] = "again"
  /\ IF visible > 0
     THEN visible' = visible - 1 /\ relay' = [relay EXCEPT ![r] = "look"]
     ELSE relay' = [relay EXCEPT ![r] = "sleep"] /\ UNCHANGED visible
  /\ UNCHANGED <<flag, producer, armed, rung, crashes>>

Wake(r) ==
  /\ relay[r] = "sleep" /\ r \in rung
  /\ rung' = rung \ {r}
  /\ relay' = [relay EXCEPT ![r] = "look"]
  /\ UNCHANGED <<flag, visible, producer, armed, crashes>>

(* Another relay may have lowered the flag meanwhile: it is raised first. *)
Poll(r) ==
  /\ Polls /\ relay[r] = "sleep"
  /\ relay' = [relay EXCEPT ![r] = "arm"]
  /\ UNCHANGED <<flag, visible, producer, armed, rung, crashes>>

Crash(r) ==
  /\ crashes < Crashes /\ relay[r] # "dead"
  /\ crashes' = crashes + 1
  /\ relay' = [relay EXCEPT ![r] = "dead"]
  /\ UNCHANGED <<flag, visible, producer, armed, rung>>

Next ==
  \/ \E p \in Producers : Write(p) \/ Finish(p)
  \/ \E r \in Relays : Look(r) \/ Disarm(r) \/ Arm(r) \/ Again(r) \/ Wake(r) \/ Poll(r) \/ Crash(r)

Fairness ==
  /\ \A p \in Producers : WF_vars(Write(p) \/ Finish(p))
  /\ \A r \in Relays :
       WF_vars(Look(r) \/ Disarm(r) \/ Arm(r) \/ Again(r) \/ Wake(r)) /\ WF_vars(Poll(r))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* A ring reaches only those who will look. *)
Sound == visible <= Cardinality(Producers)

(* I10: every message is claimed. *)
EverythingIsFound == <>(visible = 0 /\ \A p \in Producers : producer[p] = "done")
=============================================================================
