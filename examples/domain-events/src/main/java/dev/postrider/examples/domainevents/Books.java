package dev.postrider.examples.domainevents;

import java.util.List;

/**
 * What has happened, and what the consumers have made of it; both must agree. They add up, so an
 * event that is lost or done twice shows. Holds no state.
 */
final class Books {
  /**
   * Two counts that must be the same.
   *
   * @param happened asks the group's tables and its outbox
   * @param done asks the consumers' tables
   */
  record Line(String what, String happened, String done) {}

  static final List<Line> LINES =
      List.of(
          new Line(
              "events, in analytics",
              "select count(*) from postrider.message",
              "select coalesce(sum(n), 0) from consumers.event_count"),
          new Line(
              "cents invoiced, in the ERP",
              "select coalesce(sum(amount) * 100, 0)::bigint from holdco.invoice",
              "select coalesce(sum(booked) * 100, 0)::bigint from consumers.revenue"),
          new Line(
              "pieces moved, in the inventory",
              "select coalesce(sum(on_hand), 0) from holdco.stock",
              "select coalesce(sum(quantity), 0) from consumers.on_hand"),
          new Line(
              "prices set, in the shops",
              "select count(*) from postrider.message where aggregate_type = 'price_list'",
              "select coalesce(sum(changes), 0) from consumers.shelf_price"),
          new Line(
              "order events, in mails",
              "select count(*) from postrider.message where aggregate_type = 'order'",
              "select count(*) from consumers.mail"));

  /** Every event is analytics' and one other consumer's: what they have not done yet. */
  static final String UNDONE =
      """
      select 2 * (select count(*) from postrider.message) - (select count(*) from postrider.inbox)
      """;

  private Books() {}
}
