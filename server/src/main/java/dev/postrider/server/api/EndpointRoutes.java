package dev.postrider.server.api;

import dev.postrider.access.Permission;
import dev.postrider.internal.jdbc.Database;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts endpoints to work: access first, then the checks, then the handler. Immutable. */
public record EndpointRoutes(
    List<Endpoint> endpoints, Admission admission, Bodies bodies, RequestTurns turns) {
  private static final String CALLER = "postrider.caller";

  /** Pages of the console ask again and again, so no statement for them may take longer. */
  private static final Duration PAGE_MAX = Duration.ofSeconds(2);

  /** Decides who may pass. */
  @FunctionalInterface
  public interface Admission {
    Caller admit(Context context, Guard guard) throws Exception;
  }

  public EndpointRoutes {
    endpoints = List.copyOf(endpoints);
    Set<String> names = new HashSet<>();
    for (Endpoint endpoint : endpoints) {
      if (!names.add(endpoint.name())) {
        throw new IllegalArgumentException(endpoint.name() + " is declared twice");
      }
    }
  }

  public void install(JavalinConfig config) {
    config.routes.beforeMatched(this::admit);
    for (Endpoint endpoint : endpoints) {
      config.routes.addHttpHandler(
          endpoint.method(),
          endpoint.path(),
          context -> handle(endpoint, context),
          endpoint.guard());
    }
    config.routes.exception(Exception.class, ErrorResponses::answer);
    config.routes.error(404, context -> unanswered(context, Problem.notFound(nothingAt(context))));
    config.routes.error(
        405,
        context ->
            unanswered(
                context,
                Problem.of(
                    405,
                    "method-not-allowed",
                    "Method not allowed",
                    context.path() + " does not take " + context.method().name())));
  }

  /** Also for what was registered past the endpoints: no guard, no answer. */
  private void admit(Context context) throws Exception {
    List<Guard> guards = new ArrayList<>();
    context.routeRoles().forEach(role -> guards.add((Guard) role));
    if (guards.size() != 1) {
      throw Problem.forbidden("nobody may call this").toException();
    }
    context.attribute(CALLER, admission.admit(context, guards.get(0)));
  }

  private void handle(Endpoint endpoint, Context context) throws Exception {
    Caller caller = Objects.requireNonNull(context.attribute(CALLER), "was not admitted");
    if (!endpoint.takes().body().isEmpty()) {
      bodies.take(
          context,
          caller,
          endpoint.takes().bodySize(),
          sent -> answer(endpoint, context, caller, sent));
      return;
    }
    Bodies.refuse(context);
    // Streams hold no thread.
    boolean atOnce = endpoint.guard().always() || !endpoint.produces().equals(Answer.JSON);
    String counted = caller.counted();
    if (atOnce) {
      answer(endpoint, context, caller, null);
    } else if (!turns.take(counted)) {
      context.future(() -> turns.later(counted, () -> answer(endpoint, context, caller, null)));
    } else {
      try {
        answer(endpoint, context, caller, null);
      } finally {
        turns.giveBack(counted);
      }
    }
  }

  private static void answer(
      Endpoint endpoint, Context context, Caller caller, byte @Nullable [] sent) throws Exception {
    context.status(endpoint.status());
    Call call = Call.of(context, caller, endpoint.takes(), sent);
    @Nullable Object answer =
        caller.session() && endpoint.method().equals(HandlerType.GET)
            ? Database.within(PAGE_MAX, () -> Optional.ofNullable(endpoint.handler().handle(call)))
                .orElse(null)
            : endpoint.handler().handle(call);
    if (answer != null) {
      context.contentType(endpoint.produces());
      context.result(JsonText.bytes(answer, call.may(Permission.PAYLOAD_READ)));
    }
  }

  private static String nothingAt(Context context) {
    return "there is nothing at " + context.path();
  }

  /** A problem that was answered has its own body already. */
  private static void unanswered(Context context, Problem problem) {
    if (!Objects.equals(context.res().getContentType(), Problem.MEDIA_TYPE)) {
      ErrorResponses.write(context, problem);
    }
  }
}
