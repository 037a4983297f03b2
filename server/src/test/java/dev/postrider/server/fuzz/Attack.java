package dev.postrider.server.fuzz;

import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Field;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Makes requests, byte by byte, from what endpoints say they take. */
final class Attack {
  private static final List<String> TYPES =
      List.of(
          "application/json; charset=nope",
          "application/json; charset=",
          "application/json; charset",
          "application/json; charset=utf-16",
          "application/json;;;",
          "text/plain; charset=nope",
          "nothing");
  private static final List<String> BROKEN =
      List.of("%zz", "%", "%f", "%ff%fe", "%00", "+", "%ed%a0%80", "a=b=c", "&&", "=", "[]=1", "é");

  private final Random random;
  private final Hostile hostile;

  Attack(Random random) {
    this.random = random;
    this.hostile = new Hostile(random);
  }

  byte[] request(Endpoint endpoint, String token) {
    double share = random.nextInt(4) == 0 ? 1 : 0.15;
    String body = endpoint.takes().body().isEmpty() ? "" : body(endpoint, share);
    byte[] content = body.getBytes(StandardCharsets.UTF_8);
    StringBuilder head = new StringBuilder();
    head.append(endpoint.method().name()).append(' ');
    head.append(path(endpoint, share)).append(query(endpoint, share)).append(" HTTP/1.1\r\n");
    header(head, "Host", "localhost");
    header(head, "Authorization", "Bearer " + token);
    for (Field field : endpoint.takes().headers()) {
      if (random.nextBoolean()) {
        header(head, field.name(), oneLine(hostile.text()));
      }
    }
    if (content.length > 0) {
      header(head, "Content-Length", Integer.toString(content.length));
      header(
          head, "Content-Type", random.nextInt(20) == 0 ? hostile.pick(TYPES) : "application/json");
    } else if (random.nextInt(10) == 0) {
      header(head, "Content-Type", hostile.pick(TYPES));
    }
    if (random.nextInt(20) == 0) {
      header(head, hostile.pick(ODD_HEADERS), oneLine(hostile.text()));
    }
    byte[] start = head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8);
    byte[] all = java.util.Arrays.copyOf(start, start.length + content.length);
    System.arraycopy(content, 0, all, start.length, content.length);
    return all;
  }

  /** For a file of the console, which is no endpoint. */
  byte[] file() {
    StringBuilder head = new StringBuilder("GET /console/");
    String name = random.nextBoolean() ? "vendor/" : "";
    head.append(name).append(encoded(hostile.text())).append(" HTTP/1.1\r\n");
    header(head, "Host", "localhost");
    header(head, hostile.pick(ODD_HEADERS), oneLine(hostile.text()));
    return head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8);
  }

  private static final List<String> ODD_HEADERS =
      List.of(
          "Accept",
          "X-Forwarded-For",
          "X-HTTP-Method-Override",
          "Cookie",
          "Range",
          "If-None-Match");

  private String body(Endpoint endpoint, double share) {
    return random.nextInt(40) == 0
        ? hostile.json()
        : hostile.object(endpoint.takes().body(), share);
  }

  private String path(Endpoint endpoint, double share) {
    String path = endpoint.path();
    for (Field field : endpoint.takes().path()) {
      String value = random.nextDouble() < share ? hostile.text() : hostile.good(field);
      path = path.replace("{" + field.name() + "}", encoded(value));
    }
    return path;
  }

  private String query(Endpoint endpoint, double share) {
    List<String> parts = new ArrayList<>();
    for (Field field : endpoint.takes().query()) {
      if (field.required() || random.nextInt(3) == 0) {
        String value = random.nextDouble() < share ? hostile.text() : hostile.good(field);
        parts.add(field.name() + "=" + encoded(value));
        if (random.nextInt(60) == 0) {
          parts.add(field.name() + "=" + encoded(hostile.text()));
        }
      }
    }
    if (random.nextInt(30) == 0) {
      parts.add(encoded(hostile.text()) + "=" + encoded(hostile.text()));
    }
    return parts.isEmpty() ? "" : "?" + String.join("&", parts);
  }

  private String encoded(String text) {
    return random.nextInt(40) == 0
        ? hostile.pick(BROKEN)
        : URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static void header(StringBuilder head, String name, String value) {
    head.append(name).append(": ").append(value).append("\r\n");
  }

  private static String oneLine(String value) {
    return value.replaceAll("[\\r\\n]", " ");
  }
}
