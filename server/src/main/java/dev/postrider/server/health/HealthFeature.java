package dev.postrider.server.health;

import dev.postrider.access.Permission;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Feature;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Liveness, readiness, metrics. Thread-safe. */
public final class HealthFeature implements Feature {
  private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

  private final Pulse pulse;
  private final PrometheusMeterRegistry registry;

  public HealthFeature(Pulse pulse, PrometheusMeterRegistry registry) {
    this.pulse = pulse;
    this.registry = registry;
  }

  @Override
  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.getAlways("/v1/health")
            .about("health", "How each part is; details with a token that may read. 503 if down")
            .answers(HealthReport.class)
            .orAnswers(503, HealthReport.class, "Down")
            .handledBy(call -> answer(call, pulse.parts())),
        Endpoint.getAlways("/v1/health/live")
            .about("health", "Whether the process works; 503 if a restart would help")
            .answers(HealthReport.class)
            .orAnswers(503, HealthReport.class, "Down")
            .handledBy(call -> answer(call, pulse.vitals())),
        Endpoint.getAlways("/v1/health/ready")
            .about("health", "Whether it can do its work now; 503 if not")
            .answers(HealthReport.class)
            .orAnswers(503, HealthReport.class, "Down")
            .handledBy(call -> answer(call, pulse.parts())),
        Endpoint.get("/v1/metrics", Permission.METRICS)
            .about("health", "Metrics for Prometheus; the token also as x-metrics-token")
            .produces(PROMETHEUS)
            .handledBy(this::metrics));
  }

  private static HealthReport answer(Call call, Map<String, HealthPart> parts) {
    Health health = Health.worst(parts.values());
    if (health == Health.DOWN) {
      call.status(503);
    }
    boolean details = call.may(Permission.READ) && !call.caller().scope().limited();
    Map<String, HealthPart> shown = new LinkedHashMap<>();
    parts.forEach((name, part) -> shown.put(name, details ? part : part.withoutDetails()));
    return new HealthReport(health, shown);
  }

  private @Nullable Object metrics(Call call) {
    call.context().contentType(PROMETHEUS).result(registry.scrape());
    return null;
  }
}
