package dev.postrider.internal.retention;

import dev.postrider.testing.TestDatabase;

class KeyRetirementOnOldestTest extends KeyRetirementTest {
  @Override
  int version() {
    return TestDatabase.OLDEST;
  }
}
