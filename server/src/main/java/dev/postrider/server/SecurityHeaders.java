package dev.postrider.server;

import io.javalin.config.JavalinConfig;
import java.util.Map;

/** What browsers are told with every answer. */
final class SecurityHeaders {
  private static final Map<String, String> ALWAYS =
      Map.of(
          "X-Content-Type-Options", "nosniff",
          "X-Frame-Options", "DENY",
          "Referrer-Policy", "no-referrer",
          "Cache-Control", "no-store",
          "Cross-Origin-Resource-Policy", "same-origin",
          "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");

  private SecurityHeaders() {}

  static void install(JavalinConfig javalinConfig, boolean tls) {
    javalinConfig.routes.before(
        context -> {
          ALWAYS.forEach(context::header);
          if (tls) {
            context.header("Strict-Transport-Security", "max-age=31536000");
          }
        });
  }
}
