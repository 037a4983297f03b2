package dev.postrider.server.openapi;

import dev.postrider.server.api.Answer;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Problem;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** What endpoints answer: the good answers they declare, and problems. For one document. */
final class Responses {
  private static final Map<Integer, String> PROBLEMS =
      Map.of(
          400, "The body is not a JSON object",
          401, "No token, or one that is not valid",
          403, "The token does not have the permission, or is limited to something else",
          404, "There is no such thing",
          409, "Not possible in its present state",
          410, "The position is older than what is kept",
          413, "The body is too large",
          415, "The body is not application/json",
          422, "Values are not as described; errors names each",
          429, "Too many calls; Retry-After says when to try again");

  private static final Map<String, Object> RETRY_AFTER =
      Map.of(
          "Retry-After",
          Ordered.of("description", "Seconds to wait", "schema", Ordered.of("type", "integer")));

  private final Components components = new Components();
  private final SortedMap<String, Object> problems = new TreeMap<>();

  Map<String, Object> schemas() {
    return components.schemas();
  }

  /** Those that were referred to, by name. */
  Map<String, Object> problems() {
    return problems;
  }

  Map<String, Object> of(Endpoint endpoint) {
    SortedMap<String, Object> responses = new TreeMap<>();
    for (int status : statuses(endpoint)) {
      responses.put(Integer.toString(status), reference("Problem" + status, problem(status)));
    }
    for (Answer answer : endpoint.answers()) {
      responses.put(Integer.toString(answer.status()), good(answer));
    }
    responses.put("default", reference("Problem", problem("Anything else that went wrong")));
    return responses;
  }

  private Map<String, Object> reference(String name, Map<String, Object> response) {
    problems.put(name, response);
    return Ordered.of("$ref", "#/components/responses/" + name);
  }

  private static SortedSet<Integer> statuses(Endpoint endpoint) {
    SortedSet<Integer> statuses = new TreeSet<>(endpoint.problems());
    statuses.add(422);
    statuses.add(429);
    if (endpoint.guard().permission() != null) {
      statuses.add(401);
      statuses.add(403);
    }
    if (!endpoint.takes().body().isEmpty()) {
      statuses.add(400);
      statuses.add(413);
      statuses.add(415);
    }
    return statuses;
  }

  private Map<String, Object> good(Answer answer) {
    Map<String, Object> content = new LinkedHashMap<>();
    for (String mediaType : answer.mediaTypes()) {
      content.put(mediaType, Ordered.of("schema", schema(answer)));
    }
    return response(answer.when(), content);
  }

  private Map<String, Object> schema(Answer answer) {
    if (answer.type() == null) {
      return Ordered.of("type", "string");
    } else if (!answer.isStream()) {
      return components.of(answer.type());
    }
    Map<String, Object> lines = new LinkedHashMap<>();
    lines.put("type", "string");
    lines.put("description", "One record after the other; contentSchema describes each");
    lines.put("contentMediaType", "application/json");
    lines.put("contentSchema", components.of(answer.type()));
    return lines;
  }

  private Map<String, Object> problem(int status) {
    Map<String, Object> response = problem(PROBLEMS.getOrDefault(status, "Not possible"));
    if (status == 429) {
      response.put("headers", RETRY_AFTER);
    }
    return response;
  }

  private Map<String, Object> problem(String description) {
    return response(
        description,
        Map.of(Problem.MEDIA_TYPE, Ordered.of("schema", components.of(Problem.class))));
  }

  private static Map<String, Object> response(String description, Map<String, Object> content) {
    Map<String, Object> response = new LinkedHashMap<>();
    response.put("description", description);
    response.put("content", content);
    return response;
  }
}
