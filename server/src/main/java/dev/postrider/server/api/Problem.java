package dev.postrider.server.api;

import java.util.List;

/**
 * What went wrong, as RFC 9457 has it. Immutable.
 *
 * @param type a name for programs to tell problems apart
 * @param errors what is wrong with each field, if fields are what is wrong
 */
public record Problem(
    String type, String title, int status, String detail, List<FieldError> errors) {
  public static final String MEDIA_TYPE = "application/problem+json";

  /** A field at fault, by its path. */
  public record FieldError(String field, String message) {
    private String sentence() {
      return message.startsWith(field) ? message : field + " " + message;
    }
  }

  public Problem {
    errors = List.copyOf(errors);
  }

  public static Problem of(int status, String slug, String title, String detail) {
    return new Problem("urn:postrider:problem:" + slug, title, status, detail, List.of());
  }

  public static Problem invalid(List<FieldError> errors) {
    return new Problem(
        "urn:postrider:problem:invalid",
        "Invalid request",
        422,
        errors.size() == 1
            ? errors.get(0).sentence()
            : errors.size() + " values are not as expected; nothing was changed.",
        errors);
  }

  public static Problem invalid(String field, String message) {
    return invalid(List.of(new FieldError(field, message)));
  }

  public static Problem notFound(String detail) {
    return of(404, "not-found", "Not found", detail);
  }

  public static Problem forbidden(String detail) {
    return of(403, "forbidden", "Not allowed", detail);
  }

  public static Problem conflict(String detail) {
    return of(409, "conflict", "Not possible now", detail);
  }

  /** More to do than there are threads and memory for. */
  public static Problem overloaded() {
    return of(503, "overloaded", "Overloaded", "too much to do at the moment; try again soon");
  }

  public ProblemException toException() {
    return new ProblemException(this);
  }
}
