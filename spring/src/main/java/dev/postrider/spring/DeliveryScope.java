package dev.postrider.spring;

import dev.postrider.destination.Destination;

/** Surrounds each delivery to a destination of the properties, for tracing. Thread-safe. */
@FunctionalInterface
interface DeliveryScope {
  /** Adds nothing. */
  DeliveryScope NONE = (name, destination) -> destination;

  Destination around(String name, Destination destination);
}
