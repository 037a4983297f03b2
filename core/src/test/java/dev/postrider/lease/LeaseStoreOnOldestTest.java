package dev.postrider.lease;

import dev.postrider.testing.TestDatabase;

class LeaseStoreOnOldestTest extends LeaseStoreTest {
  @Override
  int version() {
    return TestDatabase.OLDEST;
  }
}
