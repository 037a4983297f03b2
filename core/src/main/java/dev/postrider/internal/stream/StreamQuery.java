package dev.postrider.internal.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The statement for one page: a bounded stretch of the index that fits the filter best, of that
 * what matches, of that as much as the limits allow, and only for that the messages themselves. All
 * in one statement, so that what was found and the log's end belong together.
 */
record StreamQuery(String sql, List<Object> arguments, int window) {
  /** The most that one page looks at, if the index alone does not decide what matches. */
  private static final int WINDOW = 5_000;

  // Bounds are compared as rows and sorted by all columns of the index meant: with an equality the
  // planner might walk the primary key instead, over all that others have appended.
  private static final String ALL =
      """
      select * from postrider.stream_event e where e.position > ? order by e.position limit ?
      """;
  private static final String TENANT =
      """
      select * from postrider.stream_event e
       where e.tenant is not null and (e.tenant, e.position) > (?, ?)
         and (e.tenant, e.position) <= (?, 9223372036854775807)
       order by e.tenant, e.position limit ?
      """;
  private static final String AGGREGATE =
      """
      select * from postrider.stream_event e
       where e.aggregate_id is not null and (e.aggregate_type, e.aggregate_id, e.position) > (?, ?, ?)
         and (e.aggregate_type, e.aggregate_id, e.position) <= (?, ?, 9223372036854775807)
       order by e.aggregate_type, e.aggregate_id, e.position limit ?
      """;
  private static final String ROUTES =
      """
      select e.* from (select r.id from postrider.route r where %s) r
       cross join lateral (
         select * from postrider.stream_event e
          where (e.route, e.position) > (r.id, ?) and (e.route, e.position) <= (r.id, 9223372036854775807)
          order by e.route, e.position limit ?) e
      """;

  private static final String PAGE =
      """
      with looked as materialized (select * from (%s) e order by e.position limit ?),
      hits as materialized (
        select l.*, r.namespace, r.topic, sum(l.size) over (order by l.position) - l.size as before
          from (select l.* from looked l join postrider.route r on r.id = l.route
                 where %s order by l.position limit ?) l
          join postrider.route r on r.id = l.route)
      select h.latest, h.latest = ? or exists (
               select from postrider.stream_event n where n.position = ?::bigint + 1) as whole,
             w.reached, w.looked, w.hits, p.*, m.id as kept, m.content_type,
             m.is_json, m.headers, m.payload
        from (select coalesce(max(e.position), 0) as latest from postrider.stream_event e) h
       cross join (select max(l.position) as reached, count(*) as looked,
                          (select count(*) from hits) as hits from looked l) w
        left join hits p on p.before < ?
        left join lateral (
          select * from postrider.message m where m.id = p.message_id limit 1) m on true
       order by p.position
      """;

  static StreamQuery of(StreamFilter filter, long after, int limit, long bytes) {
    Map<String, String> left = new TreeMap<>(filter.conditions());
    List<Object> arguments = new ArrayList<>();
    String source = source(left, after, arguments);
    int window = left.isEmpty() ? limit : WINDOW;
    arguments.addAll(List.of(window, window));
    arguments.addAll(left.values());
    arguments.addAll(List.of(limit, after, after, bytes));
    return new StreamQuery(PAGE.formatted(source, where(left)), arguments, window);
  }

  /** Takes the conditions out that the index decides. */
  private static String source(Map<String, String> left, long after, List<Object> arguments) {
    String type = left.get("aggregate_type");
    String id = left.get("aggregate_id");
    String tenant = left.get("tenant");
    if (type != null && id != null) {
      left.keySet().removeAll(List.of("aggregate_type", "aggregate_id"));
      arguments.addAll(List.of(type, id, after, type, id));
      return AGGREGATE;
    } else if (tenant != null) {
      left.remove("tenant");
      arguments.addAll(List.of(tenant, after, tenant));
      return TENANT;
    }
    return route(left, after, arguments);
  }

  private static String route(Map<String, String> left, long after, List<Object> arguments) {
    String namespace = left.remove("namespace");
    String topic = left.remove("topic");
    if (namespace != null) {
      arguments.add(namespace);
    }
    if (topic != null) {
      arguments.add(topic);
    }
    arguments.add(after);
    return namespace == null
        ? ALL
        : ROUTES.formatted("r.namespace = ?" + (topic == null ? "" : " and r.topic = ?"));
  }

  private static String where(Map<String, String> left) {
    StringBuilder where = new StringBuilder("true");
    for (String name : left.keySet()) {
      boolean ofRoute = name.equals("namespace") || name.equals("topic");
      where.append(" and ").append(ofRoute ? "r." : "l.").append(name).append(" = ?");
    }
    return where.toString();
  }
}
