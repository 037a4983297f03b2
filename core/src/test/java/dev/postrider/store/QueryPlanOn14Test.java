package dev.postrider.store;

class QueryPlanOn14Test extends QueryPlanTest {
  @Override
  int version() {
    return 14;
  }
}
