package dev.postrider.verify.journal;

/** What can be done to a process of a run. */
public enum FaultKind {
  /** SIGKILL of a relay. */
  RELAY_KILL,
  /** SIGSTOP of a relay for longer than its lease, then SIGCONT. */
  RELAY_FREEZE,
  /** SIGKILL of a producer. */
  PRODUCER_KILL,
  /** SIGKILL of a consumer behind the brokers. */
  CONSUMER_KILL,
  /** SIGTERM of one server process that works for a relay. */
  BACKEND_END,
  /** SIGKILL of one server process: PostgreSQL then ends all others and recovers. */
  BACKEND_KILL,
  /** SIGKILL of the postmaster and all server processes. */
  DATABASE_KILL,
  /** SIGKILL of the RabbitMQ broker. */
  RABBIT_KILL,
  /** SIGKILL of the Kafka broker. */
  KAFKA_KILL;

  /** Whether the database is away for everybody. */
  public boolean ofDatabase() {
    return this == DATABASE_KILL || this == BACKEND_KILL;
  }

  /** Whether a server was away: the database or a broker. */
  public boolean ofServer() {
    return ofDatabase() || this == RABBIT_KILL || this == KAFKA_KILL;
  }

  /** Whether only one relay is hit, the victim. */
  public boolean ofRelay() {
    return this == RELAY_KILL || this == RELAY_FREEZE || this == BACKEND_END;
  }
}
