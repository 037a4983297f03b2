package dev.postrider.store;

import dev.postrider.testing.TestDatabase;

class QueryPlanOnOldestTest extends QueryPlanTest {
  @Override
  int version() {
    return TestDatabase.OLDEST;
  }
}
