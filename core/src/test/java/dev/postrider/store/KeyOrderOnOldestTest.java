package dev.postrider.store;

import dev.postrider.testing.TestDatabase;

class KeyOrderOnOldestTest extends KeyOrderTest {
  @Override
  int version() {
    return TestDatabase.OLDEST;
  }
}
