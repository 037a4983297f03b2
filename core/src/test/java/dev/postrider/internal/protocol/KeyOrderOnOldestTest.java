package dev.postrider.internal.protocol;

import dev.postrider.testing.TestDatabase;

class KeyOrderOnOldestTest extends KeyOrderTest {
  @Override
  int version() {
    return TestDatabase.OLDEST;
  }
}
