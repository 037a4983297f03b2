/**
 * The transactional outbox. Applications use the exported packages. Packages under {@code internal}
 * may change in any release; the qualified exports are for Postrider's own modules, which have the
 * same version.
 */
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module dev.postrider.core {
  requires transitive java.sql;
  requires java.management;
  requires org.postgresql.jdbc;
  requires org.slf4j;
  requires static transitive org.jspecify;
  requires static org.checkerframework.checker.qual;
  requires static transitive micrometer.core;
  requires static transitive tools.jackson.databind;
  requires static transitive com.fasterxml.jackson.databind;

  exports dev.postrider.access;
  exports dev.postrider.archive;
  exports dev.postrider.deadletter;
  exports dev.postrider.destination;
  exports dev.postrider.enqueue;
  exports dev.postrider.envelope;
  exports dev.postrider.error;
  exports dev.postrider.inbox;
  exports dev.postrider.jackson;
  exports dev.postrider.lease;
  exports dev.postrider.message;
  exports dev.postrider.observe;
  exports dev.postrider.operations;
  exports dev.postrider.relay;
  exports dev.postrider.replay;
  exports dev.postrider.retention;
  exports dev.postrider.schema;
  exports dev.postrider.stream;
  exports dev.postrider.wake;
  exports dev.postrider.internal.archive to
      dev.postrider.cli;
  exports dev.postrider.internal.envelope to
      dev.postrider.cli,
      dev.postrider.kafka,
      dev.postrider.rabbitmq,
      dev.postrider.webhook;
  exports dev.postrider.internal.jdbc to
      dev.postrider.cli,
      dev.postrider.server;
  exports dev.postrider.internal.monitor to
      dev.postrider.cli,
      dev.postrider.server,
      dev.postrider.spring;
  exports dev.postrider.internal.protocol to
      dev.postrider.cli,
      dev.postrider.server,
      dev.postrider.spring;
  exports dev.postrider.internal.retention to
      dev.postrider.cli,
      dev.postrider.server;
  exports dev.postrider.internal.stream to
      dev.postrider.server;
  exports dev.postrider.internal.text to
      dev.postrider.cli,
      dev.postrider.kafka,
      dev.postrider.rabbitmq,
      dev.postrider.server,
      dev.postrider.spring,
      dev.postrider.webhook;
}
