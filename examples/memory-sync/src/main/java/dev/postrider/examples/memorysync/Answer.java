package dev.postrider.examples.memorysync;

/** What the memory service made of a note. */
sealed interface Answer {
  /** It has it, and calls it by this id. */
  record Stored(String memoryId) implements Answer {}

  /** It may take it later. */
  record Failed(String error) implements Answer {}

  /** It never will. */
  record Refused(String error) implements Answer {}
}
