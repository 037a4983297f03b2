package dev.postrider.spring;

import dev.postrider.destination.Destination;
import dev.postrider.error.DatabaseError;
import dev.postrider.internal.protocol.SubscriptionName;
import dev.postrider.internal.text.LogLine;
import dev.postrider.message.PostriderException;
import dev.postrider.message.RetryPolicy;
import dev.postrider.message.Route;
import dev.postrider.observe.RelayListener;
import dev.postrider.operations.Subscriptions;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RouteOptions;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a relay of this application serves: the routes of the properties and the handlers. */
final class RelayPlan {
  private static final Logger log = LoggerFactory.getLogger(RelayPlan.class);
  private static final String ANY = "*";

  private final String prefix;
  private final OutboxProperties properties;
  private final OutboxSchema database;
  private final Destinations destinations;
  private final Handlers handlers;
  private final Supplier<DataSource> connections;

  /**
   * @param prefix of the outbox's properties
   */
  RelayPlan(
      String prefix,
      OutboxProperties properties,
      OutboxSchema database,
      Destinations destinations,
      Handlers handlers,
      Supplier<DataSource> connections) {
    this.prefix = prefix;
    this.properties = properties;
    this.database = database;
    this.destinations = destinations;
    this.handlers = handlers;
    this.connections = connections;
  }

  /**
   * One route.
   *
   * @param subscription empty for the default subscription
   * @param handler calls a method of this application; null for a destination of the properties
   */
  record Line(
      String namespace,
      String topic,
      String subscription,
      String destination,
      RetryPolicy retry,
      Handlers.@Nullable Found handler) {
    /** Whether it serves the topic, or a subscription of it. */
    boolean serves(Route route) {
      return (namespace.equals(ANY) || namespace.equals(route.namespace()))
          && (topic.equals(ANY) || topic.equals(route.topic()));
    }

    /** The route that leaves least open wins; the namespace counts first. */
    int openness() {
      return (namespace.equals(ANY) ? 2 : 0) + (topic.equals(ANY) ? 1 : 0);
    }

    @Override
    public String toString() {
      return topicName() + " to " + destination;
    }

    private String topicName() {
      return namespace + "/" + topic + (subscription.isEmpty() ? "" : "#" + subscription);
    }
  }

  /** All routes, checked. */
  List<Line> lines() {
    RetryPolicy usual = RelaySettings.retry(RetryPolicy.DEFAULT, properties.retry());
    List<Line> lines = new ArrayList<>();
    for (int i = 0; i < properties.routes().size(); i++) {
      lines.add(line("%s.routes[%d]".formatted(prefix, i), properties.routes().get(i), usual));
    }
    for (Handlers.Found found : handlers.find()) {
      OutboxHandler marked = found.marked();
      lines.add(
          new Line(
              marked.namespace(),
              marked.topic(),
              SubscriptionName.of(marked.subscription()),
              found.name(),
              usual,
              found));
    }
    check(lines);
    return lines;
  }

  private static Line line(String key, PostriderProperties.Route route, RetryPolicy usual) {
    return new Line(
        Destinations.given(key + ".namespace", route.namespace(), "shop"),
        route.topic(),
        SubscriptionName.of(route.subscription()),
        Destinations.given(key + ".destination", route.destination(), "broker"),
        RelaySettings.retry(usual, route.retry()),
        null);
  }

  /** The routes of a topic, one for each subscription; the default one comes first. */
  static List<Line> linesOf(List<Line> lines, Route topic) {
    List<Line> found = new ArrayList<>();
    lines.stream()
        .filter(line -> line.subscription().isEmpty() && line.serves(topic))
        .min(Comparator.comparingInt(Line::openness))
        .ifPresent(found::add);
    lines.stream()
        .filter(line -> !line.subscription().isEmpty() && line.serves(topic))
        .forEach(found::add);
    return found;
  }

  /** Opens a destination of the properties. */
  Destination open(String name) {
    return destinations.open(name, settings(name));
  }

  DestinationProperties settings(String name) {
    DestinationProperties settings = properties.destinations().get(name);
    if (settings == null) {
      throw new IllegalStateException("no destination " + name);
    }
    return settings;
  }

  /** Adds the named subscriptions. If that fails, the relay does it later. */
  void subscribe() {
    List<Line> named = lines().stream().filter(line -> !line.subscription().isEmpty()).toList();
    if (named.isEmpty()) {
      return;
    }
    try {
      Subscriptions subscriptions = new Subscriptions(connections.get(), database.schema());
      for (Line line : named) {
        subscriptions.add(
            "application", new Route(line.namespace(), line.topic(), line.subscription()));
      }
    } catch (SQLException e) {
      log.warn("{}", LogLine.of("outbox_subscribe_failed").put("error", DatabaseError.text(e)));
    }
  }

  /** A relay that has not started; null if there is nothing to carry. */
  @Nullable Relay make(RelayListener listener) {
    List<Line> lines = lines();
    if (lines.isEmpty()) {
      log.info("{}", LogLine.of("outbox_relay_idle").put("reason", "no routes and no handlers"));
      return null;
    }
    Map<String, Destination> opened = new HashMap<>();
    try {
      return build(lines, listener, opened);
    } catch (RuntimeException e) {
      opened.values().forEach(Destination::close);
      throw e instanceof PostriderException wrong && !(e instanceof StartException)
          ? new StartException(
              String.valueOf(wrong.getMessage()), "Correct the settings under postrider.", wrong)
          : e;
    }
  }

  private Relay build(List<Line> lines, RelayListener listener, Map<String, Destination> opened) {
    Relay.Builder relay =
        Relay.builder(connections.get())
            .schema(database.schema())
            .config(RelaySettings.relay(properties.relay()))
            .retention(
                Archives.with(
                    RelaySettings.retention(properties.retention()), properties.archive()))
            .listener(listener);
    String direct = properties.relay().directUrl();
    if (direct != null) {
      relay.direct(direct(direct));
    }
    for (Line line : lines) {
      if (!opened.containsKey(line.destination())) {
        Handlers.Found handler = line.handler();
        Destination destination = handler == null ? open(line.destination()) : handler.open();
        opened.put(line.destination(), destination);
        relay.destination(
            line.destination(),
            destination,
            handler == null
                ? Destinations.options(settings(line.destination()))
                : handler.options());
      }
      RouteOptions options = RouteOptions.DEFAULT.withRetry(line.retry());
      if (line.subscription().isEmpty()) {
        relay.route(line.namespace(), line.topic(), line.destination(), options);
      } else {
        relay.subscription(
            line.namespace(), line.topic(), line.subscription(), line.destination(), options);
      }
    }
    return relay.build();
  }

  private static DataSource direct(String url) {
    PGSimpleDataSource direct = new PGSimpleDataSource();
    direct.setUrl(url);
    return direct;
  }

  private void check(List<Line> lines) {
    Map<String, String> served = new HashMap<>();
    Set<String> names = new HashSet<>(properties.destinations().keySet());
    for (Line line : lines) {
      String other = served.put(line.topicName(), line.destination());
      if (other != null) {
        throw new StartException(
            "%s has two routes or handlers: %s and %s."
                .formatted(line.topicName(), other, line.destination()),
            "Give one of them a subscription of its own, then both get every message; or leave"
                + " one.");
      }
      if (!line.subscription().isEmpty()
          && (line.namespace().equals(ANY) || line.topic().equals(ANY))) {
        throw new StartException(
            "The subscription %s has no exact topic.".formatted(line.topicName()),
            "Name its namespace and topic, without *.");
      }
      SubscriptionName.problem(line.subscription())
          .ifPresent(
              problem -> {
                throw new StartException(
                    "The subscription %s has a bad name.".formatted(line.topicName()),
                    "Correct it: %s.".formatted(problem));
              });
      if (line.handler() == null && !names.contains(line.destination())) {
        throw new StartException(
            "The route of %s/%s names the destination \"%s\", which does not exist."
                .formatted(line.namespace(), line.topic(), line.destination()),
            "Define %s.destinations.%s, or name one of %s."
                .formatted(prefix, line.destination(), names));
      }
      if (line.handler() != null && !names.add(line.destination())) {
        throw new StartException(
            "Two destinations have the name \"%s\".".formatted(line.destination()),
            "Give the @OutboxHandler another name.");
      }
    }
  }
}
