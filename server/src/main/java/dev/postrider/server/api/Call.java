package dev.postrider.server.api;

import dev.postrider.access.Permission;
import io.javalin.http.Context;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One call of an endpoint, with its values checked. Belongs to the thread that handles it. */
public final class Call {
  /** The attribute of a request whose answer has no end; its writer cuts off who is too slow. */
  public static final String LASTING = "postrider.lasting";

  /**
   * The attribute of a request with a body: a {@code Future} that is done when all of it is here.
   */
  public static final String BODY = "postrider.body";

  private final Context context;
  private final Caller caller;
  private final Values path;
  private final Values query;
  private final Values headers;
  private final Values body;

  private Call(Context context, Caller caller, Values[] values) {
    this.context = context;
    this.caller = caller;
    this.path = values[0];
    this.query = values[1];
    this.headers = values[2];
    this.body = values[3];
  }

  /** Checks everything that the endpoint takes; all that is wrong is one problem. */
  static Call of(Context context, Caller caller, Endpoint.Takes takes, byte @Nullable [] sent) {
    RequestCheck check = new RequestCheck();
    Values[] values = {
      check.texts(once(context.pathParamMap()), takes.path()),
      check.texts(Query.of(context.req().getQueryString()), takes.query()),
      check.texts(headers(context, takes.headers()), takes.headers()),
      sent == null ? new Values(Map.of()) : check.object("", Body.read(sent), takes.body())
    };
    check.done();
    return new Call(context, caller, values);
  }

  private static Map<String, List<String>> once(Map<String, String> given) {
    Map<String, List<String>> lists = new LinkedHashMap<>();
    given.forEach((name, value) -> lists.put(name, List.of(value)));
    return lists;
  }

  /** Only those that are declared: every request has others. */
  private static Map<String, List<String>> headers(Context context, List<Field> fields) {
    Map<String, String> given = new LinkedHashMap<>();
    for (Field field : fields) {
      @Nullable String value = context.header(field.name());
      if (value != null) {
        given.put(field.name(), value);
      }
    }
    return once(given);
  }

  public Caller caller() {
    return caller;
  }

  /** Who acts, for the audit. */
  public String actor() {
    return caller.name();
  }

  public boolean may(Permission permission) {
    return caller.may(permission);
  }

  public Values path() {
    return path;
  }

  public Values query() {
    return query;
  }

  public Values headers() {
    return headers;
  }

  public Values body() {
    return body;
  }

  /** Answers with another status than the declared one. */
  public void status(int status) {
    context.status(status);
  }

  /** The request and response themselves, for what writes its answer itself. */
  public Context context() {
    return context;
  }
}
