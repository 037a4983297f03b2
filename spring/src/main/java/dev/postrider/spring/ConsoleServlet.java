package dev.postrider.spring;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Flow;
import java.util.regex.Pattern;

/**
 * Passes the console's requests on to a Postrider server, with a token that only this application
 * knows. Who may call it is up to the security of the application; callers without a name are
 * refused in any case. Thread-safe.
 */
final class ConsoleServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  /** Pages of other origins cannot send it, so it protects against forged requests. */
  private static final String OWN_PAGES = "X-Postrider-Console";

  private static final Pattern PATH =
      Pattern.compile("/(?:console|v1)(?:/[\\w.~%:@!$&'()*+,;=/-]*)?");

  /** As much as a server takes if nothing else is configured. */
  private static final int BODY_MAX = 8 << 20;

  /** Longer than a server takes for a request. */
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(40);

  /** Three times as long as the longest pause of a stream of events. */
  private static final Duration SILENCE_MAX = Duration.ofSeconds(30);

  private static final List<String> SENT =
      List.of("Accept", "Content-Type", "If-None-Match", "Last-Event-ID", OWN_PAGES);
  private static final Set<String> RETURNED =
      Set.of(
          "cache-control",
          "content-security-policy",
          "content-type",
          "cross-origin-resource-policy",
          "etag",
          "referrer-policy",
          "retry-after",
          "x-content-type-options",
          "x-frame-options");

  private final String url;
  private final String token;
  private final Duration answerWithin;
  private final Duration silenceMax;
  private final transient HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();

  ConsoleServlet(String url, String token) {
    this(url, token, ANSWER_WITHIN, SILENCE_MAX);
  }

  /**
   * @param answerWithin how long the server may take until its answer begins
   * @param silenceMax how long it may pause in the middle of an answer
   */
  ConsoleServlet(String url, String token, Duration answerWithin, Duration silenceMax) {
    this.url = url.replaceFirst("/+$", "");
    this.token = token;
    this.answerWithin = answerWithin;
    this.silenceMax = silenceMax;
  }

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    String mounted = request.getContextPath() + request.getServletPath();
    String path = request.getRequestURI().substring(mounted.length());
    if (request.getUserPrincipal() == null) {
      response.sendError(HttpServletResponse.SC_UNAUTHORIZED);
    } else if (path.isEmpty() || path.equals("/") || path.equals("/console")) {
      response.sendRedirect(mounted + "/console/");
    } else if (!PATH.matcher(path).matches() || path.contains("/..")) {
      response.sendError(HttpServletResponse.SC_NOT_FOUND);
    } else if (!request.getMethod().equals("GET") && request.getHeader(OWN_PAGES) == null) {
      response.sendError(HttpServletResponse.SC_FORBIDDEN, "only for the console's own pages");
    } else {
      pass(request, path, response);
    }
  }

  private void pass(HttpServletRequest request, String path, HttpServletResponse response)
      throws IOException {
    String query = request.getQueryString() == null ? "" : "?" + request.getQueryString();
    URI target;
    try {
      target = new URI(url + path + query);
    } catch (URISyntaxException e) {
      response.sendError(HttpServletResponse.SC_BAD_REQUEST, "the path or the query is not valid");
      return;
    }
    byte[] body = request.getInputStream().readNBytes(BODY_MAX + 1);
    if (body.length > BODY_MAX) {
      response.sendError(HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE);
      return;
    }
    HttpRequest.Builder passed =
        HttpRequest.newBuilder(target)
            .timeout(answerWithin)
            .method(
                request.getMethod(),
                body.length == 0
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(body))
            .header("Authorization", "Bearer " + token);
    for (String name : SENT) {
      String value = request.getHeader(name);
      if (value != null) {
        passed.header(name, value);
      }
    }
    try {
      answer(client.send(passed.build(), HttpResponse.BodyHandlers.ofPublisher()), response);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
    } catch (java.net.ConnectException | java.net.http.HttpTimeoutException e) {
      response.sendError(
          HttpServletResponse.SC_BAD_GATEWAY,
          "the server of postrider.console.url does not answer");
    }
  }

  /** Flushes what has arrived, because the console listens to a stream of events. */
  private void answer(
      HttpResponse<Flow.Publisher<List<ByteBuffer>>> answer, HttpServletResponse response)
      throws IOException {
    response.setStatus(answer.statusCode());
    answer
        .headers()
        .map()
        .forEach(
            (name, values) -> {
              if (RETURNED.contains(name)) {
                values.forEach(value -> response.setHeader(name, value));
              }
            });
    PassedAnswer passed = new PassedAnswer();
    answer.body().subscribe(passed);
    passed.writeTo(response.getOutputStream(), silenceMax);
  }
}
