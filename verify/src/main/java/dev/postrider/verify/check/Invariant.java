package dev.postrider.verify.check;

/** The numbered promises of docs/reliability.md. */
public enum Invariant {
  /** Nothing is lost. */
  I1,
  /** Nothing is invented. */
  I2,
  /** Order per key and subscription. */
  I3,
  /** Gap-free sequences in commit order. */
  I4,
  /** Fenced settlements. */
  I5,
  /** Dedupe. */
  I6,
  /** Retention never drops open work. */
  I7,
  /** One effect behind the inbox. */
  I8,
  /** Duplicates only where a crash or a lost lease makes them unavoidable. */
  I9,
  /** Progress. */
  I10
}
