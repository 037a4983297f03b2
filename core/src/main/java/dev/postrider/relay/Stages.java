package dev.postrider.relay;

import dev.postrider.claim.Claims;
import dev.postrider.claim.FanOut;
import dev.postrider.observe.RelayListener;
import dev.postrider.settle.Leases;
import dev.postrider.settle.Settlements;
import dev.postrider.store.HeldConnection;
import dev.postrider.store.Partitions;
import dev.postrider.wake.Doorbell;

/** The stages of a message's way, as the threads of a relay use them. */
record Stages(
    Claims claims,
    FanOut fanOut,
    Settlements settlements,
    Leases leases,
    Doorbell doorbell,
    Routing routing,
    Partitions partitions,
    HeldConnection.Work schemaCheck,
    RelayListener listener) {}
