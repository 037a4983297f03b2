package dev.postrider.server.api;

import dev.postrider.access.Permission;
import io.javalin.http.HandlerType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint with all there is to know about it. Immutable.
 *
 * @param group the part of the API it belongs to
 * @param path with parameters in braces
 * @param status of a good answer
 * @param produces the media type of a good answer
 * @param answers every good answer, the usual one first
 * @param problems statuses of problems that not every endpoint has
 */
public record Endpoint(
    HandlerType method,
    String path,
    Guard guard,
    String group,
    String summary,
    Takes takes,
    int status,
    String produces,
    List<Answer> answers,
    List<Integer> problems,
    Handler handler) {
  private static final Pattern IN_BRACES = Pattern.compile("\\{(\\w+)}");

  public Endpoint {
    answers = List.copyOf(answers);
    problems = List.copyOf(problems);
  }

  /** What it takes, by place. A body, if any is declared, is a JSON object. */
  public record Takes(
      List<Field> path,
      List<Field> query,
      List<Field> headers,
      List<Field> body,
      BodySize bodySize) {
    public Takes {
      path = List.copyOf(path);
      query = List.copyOf(query);
      headers = List.copyOf(headers);
      body = List.copyOf(body);
    }
  }

  /** Method and path, as people write them. */
  public String name() {
    return method.name() + " " + path;
  }

  public static Builder get(String path, Permission permission) {
    return new Builder(HandlerType.GET, path, new Guard(permission, false, false));
  }

  public static Builder post(String path, Permission permission) {
    return new Builder(HandlerType.POST, path, new Guard(permission, false, false));
  }

  public static Builder delete(String path, Permission permission) {
    return new Builder(HandlerType.DELETE, path, new Guard(permission, false, false));
  }

  /** For everybody, with or without a token. */
  public static Builder getPublic(String path) {
    return new Builder(HandlerType.GET, path, Guard.PUBLIC);
  }

  /** Changes something for everybody, with or without a token. */
  public static Builder publicly(HandlerType method, String path) {
    return new Builder(method, path, Guard.PUBLIC);
  }

  /** For everybody, however much else there is to do. It must not wait for anything. */
  public static Builder getAlways(String path) {
    return new Builder(HandlerType.GET, path, Guard.ALWAYS);
  }

  /** Collects the declaration; not thread-safe. */
  public static final class Builder {
    private final HandlerType method;
    private final String path;
    private Guard guard;
    private String group = "";
    private String summary = "";
    private int status = 200;
    private String produces = Answer.JSON;
    private @Nullable Type type;
    private final List<Answer> others = new ArrayList<>();
    private final List<String> otherForms = new ArrayList<>();
    private final List<Integer> problems = new ArrayList<>();
    private final List<Field> inPath = new ArrayList<>();
    private final List<Field> query = new ArrayList<>();
    private final List<Field> headers = new ArrayList<>();
    private final List<Field> body = new ArrayList<>();
    private boolean largeBody;

    private Builder(HandlerType method, String path, Guard guard) {
      this.method = method;
      this.path = path;
      this.guard = guard;
    }

    public Builder about(String part, String text) {
      this.group = part;
      this.summary = text;
      return this;
    }

    /** Its handler keeps to the caller's scope, so tokens limited to a tenant may call it. */
    public Builder scoped() {
      this.guard = new Guard(guard.permission(), true, false);
      return this;
    }

    public Builder path(Field field) {
      inPath.add(field.mandatory());
      return this;
    }

    public Builder query(Field... fields) {
      return query(List.of(fields));
    }

    public Builder query(List<Field> fields) {
      query.addAll(fields);
      return this;
    }

    public Builder header(Field field) {
      headers.add(field);
      return this;
    }

    public Builder body(Field... fields) {
      return body(List.of(fields));
    }

    public Builder body(List<Field> fields) {
      body.addAll(fields);
      return this;
    }

    /** It takes as much as the server takes at all. */
    public Builder largeBody() {
      this.largeBody = true;
      return this;
    }

    private BodySize bodySize() {
      if (guard.permission() == null) {
        return BodySize.TINY;
      }
      return largeBody ? BodySize.LARGE : BodySize.SMALL;
    }

    public Builder status(int value) {
      this.status = value;
      return this;
    }

    public Builder produces(String mediaType) {
      this.produces = mediaType;
      return this;
    }

    /** What the handler returns; the API's description is made from it. */
    public Builder answers(Class<?> answer) {
      this.type = answer;
      return this;
    }

    public Builder answersPage(Class<?> item, Class<?> next) {
      this.type = JsonText.type(Page.class, item, next);
      return this;
    }

    public Builder answersList(Class<?> item) {
      this.type = JsonText.type(Listing.class, item);
      return this;
    }

    /** Another good answer, with a status of its own. */
    public Builder orAnswers(int other, Class<?> answer, String then) {
      others.add(new Answer(other, then, List.of(Answer.JSON), answer));
      return this;
    }

    /** The same answer in another form, for those who accept it. */
    public Builder alsoProduces(String mediaType) {
      otherForms.add(mediaType);
      return this;
    }

    /** Problems with statuses that not every endpoint has. */
    public Builder problems(Integer... statuses) {
      problems.addAll(List.of(statuses));
      return this;
    }

    private List<Answer> answers() {
      List<String> forms = new ArrayList<>(List.of(produces));
      forms.addAll(otherForms);
      List<Answer> all = new ArrayList<>(List.of(new Answer(status, "Done", forms, type)));
      all.addAll(others);
      return all;
    }

    public Endpoint handledBy(Handler handler) {
      List<String> declared = inPath.stream().map(Field::name).toList();
      List<String> named = IN_BRACES.matcher(path).results().map(match -> match.group(1)).toList();
      if (!declared.equals(named) || summary.isEmpty()) {
        throw new IllegalArgumentException(
            path + " needs a summary, and declares " + declared + " of its parameters " + named);
      }
      if (type == null && produces.equals(Answer.JSON)) {
        throw new IllegalArgumentException(path + " does not say what it answers");
      }
      Takes takes = new Takes(inPath, query, headers, body, bodySize());
      return new Endpoint(
          method, path, guard, group, summary, takes, status, produces, answers(), problems,
          handler);
    }
  }
}
