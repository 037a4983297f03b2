package dev.postrider.server.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Role;
import dev.postrider.server.Desk;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.stream.StreamConfig;
import dev.postrider.testrules.NoSecondChance;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever callers send, it is never the server that fails. */
@NoSecondChance
@Tag("EN-4")
class FuzzTest {
  private static final int INPUTS = 20_000;
  private static final int CALLERS = 4;
  private static final int SHOWN_MAX = 2_000;
  private static final int FILE_EVERY = 47;
  private static final int HEAD_BYTES_MAX = 16 * 1024;

  @Test
  @Timeout(300)
  void badInputIsNeverAFailureOfOurs() throws Exception {
    long seed = Long.getLong("postrider.fuzz.seed", System.nanoTime());
    System.out.println("fuzz with -Dpostrider.fuzz.seed=" + seed);
    Queue<String> failures = new ConcurrentLinkedQueue<>();
    AtomicInteger[] statuses = new AtomicInteger[600];
    java.util.Arrays.setAll(statuses, i -> new AtomicInteger());
    try (Desk desk = Desk.pooled(server -> server.streams(StreamConfig.DEFAULT))) {
      await().until(() -> desk.get(null, "/v1/health").status() == 200);
      // A number that no attack guesses: DELETE /v1/tokens/2 would revoke the token.
      desk.postgres.execute("alter table postrider.token alter column id restart with 7654321");
      String token =
          desk.token(
                  NewToken.of("fuzz", Role.ADMIN).with(Permission.PAYLOAD_READ, Permission.STREAM))
              .secret();
      await().until(() -> desk.get(token, "/v1/streams/events?after=x").status() == 422);
      List<Thread> callers = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        Random random = new Random(seed + i);
        Thread thread =
            new Thread(
                () -> {
                  try {
                    run(desk, token, random, statuses, failures);
                  } catch (Exception e) {
                    failures.add(e.toString());
                  }
                });
        thread.start();
        callers.add(thread);
      }
      for (Thread caller : callers) {
        caller.join();
      }
    }
    Map<Integer, Integer> counts = new TreeMap<>();
    for (int status = 0; status < statuses.length; status++) {
      if (statuses[status].get() > 0) {
        counts.put(status, statuses[status].get());
      }
    }
    System.out.println("answers by status: " + counts);
    assertThat(failures.stream().limit(20)).as("seed %d, %s", seed, counts).isEmpty();
    assertThat(counts.values().stream().mapToInt(n -> n).sum()).isGreaterThanOrEqualTo(INPUTS);
    assertThat(counts.keySet()).contains(200, 201, 422).doesNotContain(401, 429);
  }

  private static void run(
      Desk desk, String token, Random random, AtomicInteger[] statuses, Queue<String> failures)
      throws Exception {
    List<Endpoint> endpoints = desk.server.endpoints();
    Attack attack = new Attack(random);
    try (Caller caller = new Caller(desk.server.port())) {
      for (int i = 0; i < INPUTS / CALLERS; i++) {
        Endpoint endpoint = endpoints.get(i % endpoints.size());
        byte[] request = i % FILE_EVERY == 0 ? attack.file() : attack.request(endpoint, token);
        Caller.Answer answer = caller.call(request);
        // Whoever signs in with a made-up token is refused, as it should be.
        boolean signIn = answer.status() == 401 && endpoint.path().equals("/v1/session");
        statuses[signIn ? 422 : answer.status()].incrementAndGet();
        // Jetty closes on a head that is too large, which may overtake its answer.
        boolean none = answer.status() == 0 && request.length < HEAD_BYTES_MAX;
        if (none || answer.status() >= 500) {
          failures.add(answer + " to " + shown(request));
        }
      }
    }
  }

  private static String shown(byte[] request) {
    String text = new String(request, StandardCharsets.UTF_8);
    return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…";
  }
}
