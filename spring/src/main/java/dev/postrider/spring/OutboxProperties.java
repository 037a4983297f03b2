package dev.postrider.spring;

import dev.postrider.spring.PostriderProperties.Relay;
import dev.postrider.spring.PostriderProperties.Retention;
import dev.postrider.spring.PostriderProperties.Retry;
import dev.postrider.spring.PostriderProperties.Route;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * One more outbox, for messages of another DataSource. Immutable.
 *
 * @param migrate Whether to create and upgrade its tables at start. If false, they are checked.
 * @param schema Name of the database schema with its tables.
 * @param dataSource Name of its DataSource bean. By default the name of the outbox.
 * @param unrouted What happens when a message is published to a topic that no relay has a route
 *     for. By default fail if the relay of this outbox has routes, otherwise warn.
 * @param relay Its relay.
 * @param retry How failed messages are retried.
 * @param destinations Where its messages go, by name.
 * @param routes Which messages go to which destination.
 * @param retention How long delivered messages and other rows are kept.
 * @param archive Where old messages are archived before they are removed.
 */
public record OutboxProperties(
    @DefaultValue("true") boolean migrate,
    @DefaultValue("postrider") String schema,
    @Nullable String dataSource,
    @Nullable Unrouted unrouted,
    @DefaultValue Relay relay,
    @DefaultValue Retry retry,
    @DefaultValue Map<String, DestinationProperties> destinations,
    @DefaultValue List<Route> routes,
    @DefaultValue Retention retention,
    @DefaultValue ArchiveProperties archive) {

  /** What happens when a message is published to a topic that no relay has a route for. */
  public enum Unrouted {
    /** The publish fails. */
    FAIL,
    /** A warning is logged, once per topic. The message waits until a relay has a route. */
    WARN,
    /** Nothing; routes are not looked up. */
    ALLOW
  }
}
