package dev.postrider.server.stream;

import dev.postrider.access.Token;
import dev.postrider.access.Tokens;
import dev.postrider.internal.text.LogLine;
import dev.postrider.internal.text.Silenced;
import dev.postrider.server.api.Threads;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends streams whose token is no longer good: a request is checked once, but a stream may last for
 * days. Asks for each token that is in use, not for each client. Thread-safe.
 */
final class Revocations implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Revocations.class);

  private final Tokens tokens;
  private final Duration every;
  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(1, Threads.named("postrider-stream-tokens"));

  Revocations(Tokens tokens, Duration every) {
    this.tokens = tokens;
    this.every = every;
  }

  void start(Collection<Client> clients) {
    long ms = every.toMillis();
    ScheduledFuture<?> unused =
        thread.scheduleWithFixedDelay(() -> check(clients), ms, ms, TimeUnit.MILLISECONDS);
  }

  private void check(Collection<Client> clients) {
    Map<Long, List<Client>> byToken =
        clients.stream().collect(Collectors.groupingBy(client -> client.wanted().token().id()));
    try {
      for (Map.Entry<Long, List<Client>> entry : byToken.entrySet()) {
        if (!good(entry.getKey())) {
          entry.getValue().forEach(Revocations::end);
        }
      }
    } catch (SQLException | RuntimeException e) {
      // While the database is away nobody gets anything new.
      log.warn("{}", LogLine.of("stream_token_check_failed").put("error", Silenced.text(e)));
    }
  }

  private boolean good(long id) throws SQLException {
    return tokens.list(id - 1, 1).stream().anyMatch(token -> token.id() == id && good(token));
  }

  private static boolean good(Token token) {
    @Nullable Instant expires = token.expiresAt();
    return token.revokedAt() == null && (expires == null || expires.isAfter(Instant.now()));
  }

  private static void end(Client client) {
    client.end("unauthorized", null);
    client.pump();
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
