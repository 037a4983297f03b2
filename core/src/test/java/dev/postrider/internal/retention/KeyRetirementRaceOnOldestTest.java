package dev.postrider.internal.retention;

import dev.postrider.testing.TestDatabase;

class KeyRetirementRaceOnOldestTest extends KeyRetirementRaceTest {
  @Override
  int version() {
    return TestDatabase.OLDEST;
  }
}
