package dev.postrider.internal.settle;

import dev.postrider.internal.protocol.ClaimSettlement;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.schema.Schema;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Records what became of claimed messages. Thread-safe; the connection is the caller's. */
public final class Settlements {
  private static final String SETTLE =
      "select postrider.settle(?, ?, ?, ?, ?, ?, ?, ?, ?, p_tid => ?, p_route => ?)";

  /** Longer texts are cut: the log of attempts is no place for whole response bodies. */
  private static final int ERROR_MAX = 2000;

  private final String settle;

  public Settlements(Schema schema) {
    this.settle = schema.sql(SETTLE);
  }

  /** Returns those that were refused because their lease is lost. */
  public Set<ClaimSettlement> record(
      Connection connection, int worker, List<ClaimSettlement> settlements) throws SQLException {
    Set<ClaimSettlement> refused = Collections.newSetFromMap(new IdentityHashMap<>());
    for (List<ClaimSettlement> one : bySubscription(settlements)) {
      Set<UUID> ids = settle(connection, worker, one);
      if (!ids.isEmpty()) {
        one.stream().filter(s -> ids.contains(s.claimed().message().id())).forEach(refused::add);
      }
    }
    return refused;
  }

  /** One call settles a message once, and several subscriptions may have the same message. */
  private static Collection<List<ClaimSettlement>> bySubscription(
      List<ClaimSettlement> settlements) {
    Map<String, List<ClaimSettlement>> groups = new LinkedHashMap<>();
    for (ClaimSettlement settlement : settlements) {
      String subscription = settlement.claimed().message().route().subscription();
      groups.computeIfAbsent(subscription, s -> new ArrayList<>()).add(settlement);
    }
    return groups.values();
  }

  private Set<UUID> settle(Connection connection, int worker, List<ClaimSettlement> settlements)
      throws SQLException {
    try (PreparedStatement call = connection.prepareStatement(settle)) {
      Columns columns = new Columns(connection, sorted(settlements));
      call.setInt(1, worker);
      call.setArray(2, columns.of("uuid", s -> s.claimed().message().id()));
      call.setArray(3, columns.of("int8", s -> s.claimed().message().token()));
      call.setArray(4, columns.of("int2", s -> s.decision().number()));
      call.setArray(5, columns.of("int4", ClaimSettlement::latencyMs));
      call.setArray(
          6, columns.ofSome("int8", s -> s.delay().isZero() ? null : s.delay().toMillis()));
      call.setArray(7, columns.ofSome("text", s -> cut(s.code(), 200)));
      call.setArray(8, columns.ofSome("text", s -> cut(s.error(), ERROR_MAX)));
      call.setArray(9, columns.ofSome("text", s -> cut(s.reference(), ERROR_MAX)));
      call.setArray(10, columns.of("tid", s -> s.claimed().tid()));
      call.setArray(11, columns.ofSome("int4", Settlements::namedRoute));
      try (ResultSet row = call.executeQuery()) {
        row.next();
        return new HashSet<>(Arrays.asList((UUID[]) row.getArray(1).getArray()));
      }
    }
  }

  private static @Nullable Integer namedRoute(ClaimSettlement settlement) {
    Claimed claimed = settlement.claimed();
    return claimed.message().route().subscription().isEmpty() ? null : claimed.routeId();
  }

  /** As they lie in the tables: answers come key by key, and a key's messages lie far apart. */
  private static List<ClaimSettlement> sorted(List<ClaimSettlement> settlements) {
    return settlements.stream()
        .sorted(Comparator.comparing(settlement -> settlement.claimed().message().id()))
        .toList();
  }

  private static @Nullable String cut(@Nullable String text, int max) {
    if (text == null) {
      return null;
    }
    String clean = text.replace('\0', ' ');
    return clean.length() <= max ? clean : clean.substring(0, max);
  }

  /** Parallel arrays; one with no value at all is sent as null. */
  private record Columns(Connection connection, List<ClaimSettlement> settlements) {
    Array of(String type, Function<ClaimSettlement, Object> field) throws SQLException {
      return connection.createArrayOf(type, settlements.stream().map(field).toArray());
    }

    @Nullable Array ofSome(String type, Function<ClaimSettlement, @Nullable Object> field)
        throws SQLException {
      @Nullable Object[] values = new Object[settlements.size()];
      boolean any = false;
      for (int i = 0; i < values.length; i++) {
        values[i] = field.apply(settlements.get(i));
        any |= values[i] != null;
      }
      return any ? connection.createArrayOf(type, values) : null;
    }
  }
}
