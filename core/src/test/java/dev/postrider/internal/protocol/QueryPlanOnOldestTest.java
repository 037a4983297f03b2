package dev.postrider.internal.protocol;

import dev.postrider.testing.TestDatabase;

class QueryPlanOnOldestTest extends QueryPlanTest {
  @Override
  int version() {
    return TestDatabase.OLDEST;
  }
}
