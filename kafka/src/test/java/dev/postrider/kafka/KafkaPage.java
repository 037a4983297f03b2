package dev.postrider.kafka;

import dev.postrider.envelope.Envelope;
import dev.postrider.relay.Relay;
import javax.sql.DataSource;

/** The configuration of docs/destinations/kafka.md; a test runs it and compares the two. */
final class KafkaPage {
  private KafkaPage() {}

  static Relay start(DataSource dataSource, String bootstrapServers) {
    // snippet
    KafkaConfig config =
        KafkaConfig.builder(bootstrapServers)
            .topic("{namespace}.{topic}")
            .envelope(Envelope.cloudEventsBinary("/shop"))
            .property("compression.type", "lz4")
            .build();
    Relay relay =
        Relay.builder(dataSource)
            .destination("kafka", KafkaDestination.open(config))
            .route("shop", "*", "kafka")
            .build()
            .start();
    // end
    return relay;
  }
}
