package dev.postrider.relay;

import dev.postrider.internal.claim.Claims;
import dev.postrider.internal.claim.FanOut;
import dev.postrider.internal.jdbc.HeldConnection;
import dev.postrider.internal.retention.Partitions;
import dev.postrider.internal.settle.Leases;
import dev.postrider.internal.settle.Settlements;
import dev.postrider.internal.wake.Doorbell;
import dev.postrider.observe.RelayListener;

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
