package dev.postrider.server;

import dev.postrider.access.Tokens;
import dev.postrider.internal.monitor.Fleet;
import dev.postrider.observe.BacklogSampler;
import dev.postrider.relay.RelayStatus;
import dev.postrider.schema.Schema;
import dev.postrider.server.access.Access;
import dev.postrider.server.api.Bodies;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.EndpointRoutes;
import dev.postrider.server.api.Feature;
import dev.postrider.server.api.RequestTurns;
import dev.postrider.server.console.ConsoleFeature;
import dev.postrider.server.console.Pages;
import dev.postrider.server.console.SignInCodes;
import dev.postrider.server.console.Warning;
import dev.postrider.server.health.HealthFeature;
import dev.postrider.server.health.Pulse;
import dev.postrider.server.messages.MessagesFeature;
import dev.postrider.server.openapi.OpenApiFeature;
import dev.postrider.server.operate.OperateFeature;
import dev.postrider.server.stream.StreamConfig;
import dev.postrider.server.stream.StreamFeature;
import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP server. It listens from {@link Builder#start} to {@link #close}, which may be called
 * twice. Thread-safe.
 */
public final class Server implements AutoCloseable {
  private static final Duration SAMPLE_EVERY = Duration.ofSeconds(2);
  private final ServerConfig config;
  private final List<Feature> features;
  private final List<Endpoint> endpoints = new ArrayList<>();
  private final BacklogSampler sampler;
  private final SignInCodes codes = new SignInCodes(System::nanoTime);
  private final @Nullable ConsoleFeature console;
  private final OpenConnections openConnections;
  private final RequestPools requestPools;
  private final Bodies bodies;
  private final Javalin javalin;
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile int port;

  private Server(Builder builder) {
    this.config = builder.config;
    Limits limits = config.limits();
    Access access =
        new Access(
            new Tokens(builder.dataSource, builder.schema),
            config.proxies(),
            limits.rate().perSecond(),
            limits.rate().burst(),
            System::nanoTime);
    this.console =
        builder.monitorOnly
            ? null
            : new ConsoleFeature(builder.dataSource, builder.schema, access, codes, builder.doctor);
    @Nullable Fleet fleet =
        builder.monitorOnly ? null : new Fleet(builder.dataSource, builder.schema);
    Pulse pulse = new Pulse(builder.relay, fleet, config.oldestPending(), System::nanoTime);
    this.sampler =
        new BacklogSampler(
            builder.dataSource,
            builder.schema,
            SAMPLE_EVERY,
            backlog -> {
              pulse.beat(backlog);
              builder.metrics.show(backlog);
              Fleet.@Nullable State relays = pulse.fleet();
              if (console != null && relays != null) {
                console.beat(backlog, relays);
              }
            });
    this.features = features(builder, pulse);
    features.forEach(feature -> endpoints.addAll(feature.endpoints()));
    long memory = limits.memory(builder.heap);
    this.openConnections = new OpenConnections(limits, memory, config.proxies());
    this.requestPools = new RequestPools(limits.threads(), openConnections, alwaysAnswered());
    RequestTurns turns =
        new RequestTurns(
            Math.min(limits.threads(), builder.databaseConnections), requestPools.threads());
    this.bodies =
        new Bodies(
            limits.requestBytes(),
            limits.times().request(),
            limits.times().bytesPerSecond(),
            new Bodies.Memory(memory, builder.heap / 4),
            turns);
    EndpointRoutes routing = new EndpointRoutes(endpoints, access::admit, bodies, turns);
    this.javalin = Javalin.create(javalinConfig -> configure(javalinConfig, routing));
  }

  private Set<String> alwaysAnswered() {
    return endpoints.stream()
        .filter(endpoint -> endpoint.guard().always())
        .map(Endpoint::path)
        .collect(Collectors.toSet());
  }

  private List<Feature> features(Builder builder, Pulse pulse) {
    List<Feature> all = new ArrayList<>();
    all.add(new HealthFeature(pulse, builder.metrics.registry()));
    if (console == null) {
      return List.copyOf(all);
    }
    all.add(console);
    all.add(new MessagesFeature(builder.dataSource, builder.schema));
    all.add(new OperateFeature(builder.dataSource, builder.schema));
    StreamConfig streams = builder.streams;
    if (streams != null) {
      DataSource direct = builder.direct == null ? builder.dataSource : builder.direct;
      all.add(StreamFeature.start(builder.dataSource, direct, builder.schema, streams));
    }
    all.addAll(builder.features);
    all.add(new OpenApiFeature(() -> endpoints));
    return List.copyOf(all);
  }

  private void configure(JavalinConfig javalinConfig, EndpointRoutes routing) {
    javalinConfig.startup.showJavalinBanner = false;
    javalinConfig.startup.showOldJavalinVersionWarning = false;
    javalinConfig.startup.startupWatcherEnabled = false;
    javalinConfig.http.prefer405over404 = true;
    Jetty.configure(javalinConfig.jetty, config, requestPools, openConnections);
    SecurityHeaders.install(javalinConfig, config.tls() != null);
    routing.install(javalinConfig);
    if (console != null) {
      boolean rootTaken = endpoints.stream().anyMatch(endpoint -> endpoint.path().equals("/"));
      new Pages(config.frameAncestors()).install(javalinConfig, rootTaken);
    }
  }

  /** Serves this database; give the builder what is not as usual, then start. */
  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  /** The port it listens on, or listened on. */
  public int port() {
    return port;
  }

  /** Where to find it. */
  public String url() {
    String host = config.host().contains(":") ? "[" + config.host() + "]" : config.host();
    return (config.tls() == null ? "http://" : "https://") + host + ":" + port();
  }

  /** Where the console is. */
  public String consoleUrl() {
    return url() + Pages.PATH;
  }

  /** A link to the console that signs in with this token, once, within an hour. */
  public String signInLink(String secret) {
    // Browsers do not send what follows the #, so no log of a proxy has it.
    return consoleUrl() + "#/sign-in/" + codes.issue(secret);
  }

  /** All that it answers to. */
  public List<Endpoint> endpoints() {
    return List.copyOf(endpoints);
  }

  /** The OpenAPI document, as {@code /v1/openapi.json} serves it. */
  public Map<String, Object> description() {
    return OpenApiFeature.document(endpoints);
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      try {
        features.forEach(Feature::close);
        javalin.stop();
      } finally { // Jetty throws when a request outlasts its patience
        requestPools.close();
        openConnections.close();
        bodies.close();
        sampler.close();
      }
    }
  }

  /** Collects what a server needs; not thread-safe. */
  public static final class Builder {
    private final DataSource dataSource;
    private Schema schema = Schema.DEFAULT;
    private ServerConfig config = ServerConfig.DEFAULT;
    private Metrics metrics = new Metrics();
    private @Nullable Supplier<RelayStatus> relay;
    private @Nullable DataSource direct;
    private @Nullable StreamConfig streams;
    private boolean monitorOnly;
    private int databaseConnections = Integer.MAX_VALUE;
    private long heap = Runtime.getRuntime().maxMemory();
    private Callable<List<Warning>> doctor = List::of;
    private final List<Feature> features = new ArrayList<>();

    private Builder(DataSource dataSource) {
      this.dataSource = dataSource;
    }

    /** How many the data source gives at a time; one caller uses three quarters of them at most. */
    public Builder databaseConnections(int value) {
      this.databaseConnections = value;
      return this;
    }

    /** As if the process had so many bytes of memory. */
    Builder heap(long value) {
      this.heap = value;
      return this;
    }

    public Builder schema(Schema value) {
      this.schema = value;
      return this;
    }

    public Builder config(ServerConfig value) {
      this.config = value;
      return this;
    }

    /** Those that a relay of this process also counts into. */
    public Builder metrics(Metrics value) {
      this.metrics = value;
      return this;
    }

    /** The relay of this process, if there is one: {@code relay::status}. */
    public Builder relay(Supplier<RelayStatus> status) {
      this.relay = status;
      return this;
    }

    /** Connections for LISTEN, where the others go through a pooler that does not carry it. */
    public Builder direct(DataSource value) {
      this.direct = value;
      return this;
    }

    /** Also pushes what the stream destination is given to connected clients. */
    public Builder streams(StreamConfig value) {
      this.streams = value;
      return this;
    }

    /** What to warn about in the console: looks at the database, once a minute at most. */
    public Builder doctor(Callable<List<Warning>> value) {
      this.doctor = value;
      return this;
    }

    /** Serves health and metrics only, for a relay in a process without the API. */
    public Builder monitorOnly() {
      this.monitorOnly = true;
      return this;
    }

    /** One more part, closed with the server. */
    public Builder feature(Feature feature) {
      features.add(feature);
      return this;
    }

    /** Listens from now on. */
    public Server start() {
      Server server = new Server(this);
      try {
        server.sampler.start();
        if (server.console != null) {
          server.console.start();
        }
        server.port = server.javalin.start().port();
        return server;
      } catch (RuntimeException e) {
        server.close();
        throw e;
      }
    }
  }
}
