package dev.postrider.spring;

import dev.postrider.message.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What can be configured. A name that does not exist is an error at start. Immutable.
 *
 * @param enabled Whether to set up the outbox at all.
 * @param migrate Whether to create and upgrade the tables at start. If false, they are checked.
 * @param schema Name of the database schema with the outbox's tables.
 * @param dataSource Name of the DataSource bean to use. Needed if there are several and none is
 *     primary.
 * @param unrouted What happens when a message is published to a topic that no relay has a route
 *     for. By default fail if the relay of this application has routes, otherwise warn.
 * @param relay The relay of this application.
 * @param retry How failed messages are retried.
 * @param destinations Where messages go, by name.
 * @param routes Which messages go to which destination.
 * @param retention How long delivered messages and other rows are kept.
 * @param archive Where old messages are archived before they are removed.
 * @param modulith Externalization of Spring Modulith.
 * @param outboxes Further outboxes, for messages of other DataSources, by name.
 * @param console A Postrider server's console in this application, behind its security.
 */
@ConfigurationProperties(value = "postrider", ignoreUnknownFields = false)
public record PostriderProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue("true") boolean migrate,
    @DefaultValue("postrider") String schema,
    @Nullable String dataSource,
    OutboxProperties.@Nullable Unrouted unrouted,
    @DefaultValue Relay relay,
    @DefaultValue Retry retry,
    @DefaultValue Map<String, DestinationProperties> destinations,
    @DefaultValue List<Route> routes,
    @DefaultValue Retention retention,
    @DefaultValue @NestedConfigurationProperty ArchiveProperties archive,
    @DefaultValue Modulith modulith,
    @DefaultValue Map<String, OutboxProperties> outboxes,
    @DefaultValue Console console) {

  /** The settings of the outbox that needs no name. */
  OutboxProperties first() {
    return new OutboxProperties(
        migrate,
        schema,
        dataSource,
        unrouted,
        relay,
        retry,
        destinations,
        routes,
        retention,
        archive);
  }

  /**
   * Externalization of Spring Modulith in outbox mode.
   *
   * @param namespace Namespace of the externalized events. The topic is their target.
   */
  public record Modulith(@DefaultValue("modulith") String namespace) {}

  /**
   * A Postrider server's console and API, as a part of this application.
   *
   * @param url URL of the Postrider server. Without it there is no console.
   * @param token Token for the server. Its role decides what callers may do.
   * @param path Path in this application.
   */
  public record Console(
      @Nullable String url, @Nullable String token, @DefaultValue("/postrider") String path) {
    /** Shows no secrets. */
    @Override
    public String toString() {
      return "console of " + url;
    }
  }

  /**
   * The relay of this application.
   *
   * @param enabled Whether this application delivers messages. False for applications that only
   *     publish. In tests the default is false.
   * @param dataSource Name of a DataSource bean that only the relay uses. By default the relay
   *     opens its own connections to the database of the outbox.
   * @param ownConnections Whether the relay opens its own connections, so that it takes none from
   *     the application's pool.
   * @param directUrl JDBC URL of a direct connection for LISTEN, if the DataSource goes through a
   *     pooler such as PgBouncer.
   * @param name Tells this relay from others. By default made from the process.
   * @param batchSize Messages per claim at most.
   * @param carriers Threads that claim and settle, each with its own connection.
   * @param pollInterval How often to look for messages without being woken.
   * @param lease How long a claim holds without being renewed.
   * @param reapInterval How often to look for expired leases.
   * @param statementTimeout Time for each statement.
   * @param shutdownTimeout Time for messages in flight when the application stops.
   * @param listen Whether to listen for the notifications of producers in other processes.
   * @param partitionsAhead Number of days for which partitions are created in advance.
   * @param backlogInterval How often the backlog is read for metrics.
   */
  public record Relay(
      @DefaultValue("true") boolean enabled,
      @Nullable String dataSource,
      @DefaultValue("true") boolean ownConnections,
      @Nullable String directUrl,
      @Nullable String name,
      @DefaultValue("1000") int batchSize,
      @DefaultValue("2") int carriers,
      @DefaultValue("500ms") Duration pollInterval,
      @DefaultValue("60s") Duration lease,
      @DefaultValue("10s") Duration reapInterval,
      @DefaultValue("30s") Duration statementTimeout,
      @DefaultValue("20s") Duration shutdownTimeout,
      @DefaultValue("true") boolean listen,
      @DefaultValue("7") int partitionsAhead,
      @DefaultValue("10s") Duration backlogInterval) {}

  /**
   * How failed messages are retried.
   *
   * @param maxAttempts Attempts before a message is dead. Default 10.
   * @param backoffBase First pause; doubles with each attempt. Default 5s.
   * @param backoffMax Longest pause. Default 15m.
   * @param backoffJitter Share of the pause that is random, from 0 to below 1. Default 0.2.
   * @param onDead What happens to later messages of the key of a dead message. Default skip.
   */
  public record Retry(
      @Nullable Integer maxAttempts,
      @Nullable Duration backoffBase,
      @Nullable Duration backoffMax,
      @Nullable Double backoffJitter,
      RetryPolicy.@Nullable DeadPolicy onDead) {}

  /**
   * Sends messages to a destination.
   *
   * @param namespace Namespace of the messages, or * for all.
   * @param topic Topic of the messages, or * for all.
   * @param subscription Name of a subscription of the topic, which then gets every message on its
   *     own. It needs an exact namespace and topic.
   * @param destination Name of the destination.
   * @param retry How failed messages of this route are retried, where it differs from
   *     postrider.retry.
   */
  public record Route(
      String namespace,
      @DefaultValue("*") String topic,
      @DefaultValue("") String subscription,
      String destination,
      @DefaultValue Retry retry) {}

  /**
   * How long rows are kept: a period such as 60d, or never. Relays remove older ones.
   *
   * @param enabled Whether the relay of this application removes old rows.
   * @param interval How often a relay checks for due retention tasks.
   * @param messages Delivered and discarded messages with their attempts. Default 60d.
   * @param dedupeKeys Dedupe keys. Default 90d.
   * @param inbox Messages that handlers with once = true have handled. Default 90d.
   * @param stream Events of the stream. Default 3d.
   * @param deadLetters Resolved dead letters. Default 60d.
   * @param audit Actions of operators. Default 365d.
   * @param replayJobs Replay jobs. Default 90d.
   * @param workers Relays that have stopped. Default 90d.
   * @param deliveredContent Contents delivered with a reference. Default 90d.
   * @param orderingKeys Idle ordering keys. Default 90d.
   */
  public record Retention(
      @DefaultValue("true") boolean enabled,
      @DefaultValue("1h") Duration interval,
      @Nullable String messages,
      @Nullable String dedupeKeys,
      @Nullable String inbox,
      @Nullable String stream,
      @Nullable String deadLetters,
      @Nullable String audit,
      @Nullable String replayJobs,
      @Nullable String workers,
      @Nullable String deliveredContent,
      @Nullable String orderingKeys) {}
}
