package dev.postrider.store;

class LeaseRacesOn14Test extends LeaseRacesTest {
  @Override
  int version() {
    return 14;
  }
}
