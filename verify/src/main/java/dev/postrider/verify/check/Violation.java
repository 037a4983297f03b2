package dev.postrider.verify.check;

/** A promise that was not kept, and where. */
public record Violation(Invariant invariant, String what) {
  @Override
  public String toString() {
    return invariant + ": " + what;
  }
}
