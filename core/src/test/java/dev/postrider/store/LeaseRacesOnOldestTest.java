package dev.postrider.store;

import dev.postrider.testing.TestDatabase;

class LeaseRacesOnOldestTest extends LeaseRacesTest {
  @Override
  int version() {
    return TestDatabase.OLDEST;
  }
}
