package dev.postrider.lease;

import dev.postrider.testing.TestDatabase;

class LeaseRacesOnOldestTest extends LeaseRacesTest {
  @Override
  int version() {
    return TestDatabase.OLDEST;
  }
}
