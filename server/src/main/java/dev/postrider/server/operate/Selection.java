package dev.postrider.server.operate;

import dev.postrider.access.Permission;
import dev.postrider.deadletter.DeadLetterFilter;
import dev.postrider.internal.text.Fingerprint;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Conditions;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Kind;
import dev.postrider.server.api.Problem;
import dev.postrider.server.api.Values;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Which dead letters an act on many is about: those listed, or those that match. An empty filter
 * would be everything, which has to be said.
 */
record Selection(List<UUID> ids, DeadLetterFilter filter) {
  static final List<Field> FIELDS =
      List.of(
          Field.of("ids", Kind.IDS, "These; or a filter").between(1, 1000),
          Field.object("filter", "Those that meet every condition", Conditions.DEAD),
          Field.of("all", Kind.BOOLEAN, "Instead of a condition: all of them"));

  static Selection of(Call call) {
    Values body = call.body();
    Values filter = body.object("filter");
    Map<String, String> asked = Conditions.of(filter, Conditions.DEAD);
    int ways = (body.has("ids") ? 1 : 0) + (asked.isEmpty() ? 0 : 1) + (body.flag("all") ? 1 : 0);
    if (ways != 1) {
      throw Problem.invalid(
              "filter", "is mandatory: give either ids, a filter with a condition, or all: true")
          .toException();
    }
    if (body.has("ids") && call.caller().scope().limited()) {
      throw Problem.forbidden("a token limited to a tenant or namespace acts by filter, or on one")
          .toException();
    }
    return new Selection(body.ids("ids"), filter(call, filter));
  }

  /**
   * What was asked for, within what the caller may see. Who may not see what receivers replied must
   * not find out by asking for kinds of errors.
   */
  static DeadLetterFilter filter(Call call, Values asked) {
    @Nullable String fingerprint = asked.text("fingerprint");
    if (fingerprint != null
        && !Fingerprint.isSummary(fingerprint)
        && !call.may(Permission.PAYLOAD_READ)) {
      throw Problem.forbidden("this fingerprint needs the permission payload:read").toException();
    }
    return DeadLetterFilter.of(Conditions.within(call.caller().scope(), asked, Conditions.DEAD));
  }
}
