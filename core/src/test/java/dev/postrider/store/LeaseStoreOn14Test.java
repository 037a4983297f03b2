package dev.postrider.store;

class LeaseStoreOn14Test extends LeaseStoreTest {
  @Override
  int version() {
    return 14;
  }
}
