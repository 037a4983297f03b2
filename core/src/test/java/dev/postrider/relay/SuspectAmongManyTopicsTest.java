package dev.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.destination.DestinationOptions;
import dev.postrider.internal.claim.Claims;
import dev.postrider.internal.dispatch.Dispatcher;
import dev.postrider.internal.protocol.Claimed;
import dev.postrider.internal.settle.Settlements;
import dev.postrider.message.RetryPolicy;
import dev.postrider.observe.RelayListener;
import dev.postrider.schema.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** More topics are ready than one claim looks at: the claims' turns must not hide a suspect. */
@Tag("EN-18")
class SuspectAmongManyTopicsTest {
  private static final int TOPICS = 2 * ActiveTopics.ROUTES_PER_CLAIM + 2;
  private static final int CLAIMS = 20;

  @AutoClose private final Post post = new Post();

  @AutoClose
  private final Dispatcher dispatcher =
      new Dispatcher(
          "here", (batch, answers) -> {}, DestinationOptions.DEFAULT, RelayListener.NONE);

  private final Routing routing =
      new Routing(
          List.of(
              new RouteBinding(
                  "shop", "*", "", dispatcher, RetryPolicy.DEFAULT, MessageCheck.NONE)),
          Schema.DEFAULT);

  private final Exchange exchange =
      new Exchange(
          new Claims(Schema.DEFAULT),
          new Settlements(Schema.DEFAULT),
          routing,
          RelayListener.NONE,
          Duration.ofMinutes(1));

  /** What it claims is answered at once, as far as its destination's room is concerned. */
  private List<UUID> claim(Connection connection, int worker) throws SQLException {
    Routing.Loads loads = routing.loads(500, 1, Map.of(), feed -> true);
    try {
      List<Claimed> claimed = exchange.run(connection, worker, List.of(), loads.due()).claimed();
      return claimed.stream().map(each -> each.message().id()).toList();
    } finally {
      loads.due().forEach(Load::done);
    }
  }

  @Test
  void itIsClaimedWhoseverTurnItIs() throws SQLException {
    for (int topic = 1; topic < TOPICS; topic++) {
      post.send("topic-" + topic, null);
    }
    UUID suspect = post.send("last", null);
    post.database.execute(
        "update postrider.queue set lost_leases = 3, lane = -1 - lane, due_at = now() where id = '"
            + suspect
            + "'");
    int worker = (int) post.database.count("select postrider.worker_id('ann')");
    List<UUID> claimed = new ArrayList<>();
    try (Connection connection = post.database.dataSource().getConnection()) {
      routing.refresh(connection);
      routing.discover(connection);
      for (int i = 0; i < CLAIMS && !claimed.contains(suspect); i++) {
        claimed.addAll(claim(connection, worker));
      }
    }
    assertThat(claimed).contains(suspect).doesNotHaveDuplicates();
  }
}
