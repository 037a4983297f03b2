package dev.postrider.store;

class KeyOrderOn14Test extends KeyOrderTest {
  @Override
  int version() {
    return 14;
  }
}
