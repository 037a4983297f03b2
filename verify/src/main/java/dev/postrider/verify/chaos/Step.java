package dev.postrider.verify.chaos;

import dev.postrider.verify.journal.FaultKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * One fault of a schedule.
 *
 * @param victim a number; its remainder by the number of candidates tells which one
 * @param pauseMs how long to wait before it
 * @param lengthMs how long a server is away, or a relay stands still
 */
record Step(FaultKind kind, int victim, int pauseMs, int lengthMs) {
  private static final Map<FaultKind, Integer> SHARES =
      new EnumMap<>(
          Map.of(
              FaultKind.RELAY_KILL, 4,
              FaultKind.RELAY_FREEZE, 3,
              FaultKind.PRODUCER_KILL, 2,
              FaultKind.CONSUMER_KILL, 1,
              FaultKind.BACKEND_END, 2,
              FaultKind.BACKEND_KILL, 1,
              FaultKind.DATABASE_KILL, 1,
              FaultKind.RABBIT_KILL, 1,
              FaultKind.KAFKA_KILL, 1));

  /** Every kind of fault, some several times, in an order that the random numbers decide. */
  static List<Step> round(Random random) {
    List<FaultKind> kinds = new ArrayList<>();
    SHARES.forEach((kind, share) -> kinds.addAll(Collections.nCopies(share, kind)));
    Collections.shuffle(kinds, random);
    List<Step> steps = new ArrayList<>();
    for (FaultKind kind : kinds) {
      int pause = 500 + random.nextInt(2500);
      int length =
          kind == FaultKind.RELAY_FREEZE
              ? (int) (RelayChild.LEASE.toMillis() * (1.2 + 1.3 * random.nextDouble()))
              : random.nextInt(1500);
      steps.add(new Step(kind, random.nextInt(1 << 20), pause, length));
    }
    return steps;
  }
}
