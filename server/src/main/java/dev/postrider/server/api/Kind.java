package dev.postrider.server.api;

/** What a value may be. */
public enum Kind {
  TEXT,
  INTEGER,
  NUMBER,
  BOOLEAN,
  /** ISO 8601 with an offset. */
  TIME,
  /** ISO 8601, such as PT5M. */
  DURATION,
  ID,
  /** Any JSON. */
  JSON,
  /** An object whose values are all text. */
  TEXTS,
  IDS,
  /** An array of text. */
  WORDS,
  /** An object with fields of its own. */
  OBJECT,
  /** An array of objects. */
  LIST
}
