package dev.postrider.bench;

import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.webhook.WebhookConfig;
import dev.postrider.webhook.WebhookDestination;

/** How near a relay comes to what a slow endpoint can take: concurrency over its answer time. */
final class WebhookScenario implements Scenario {
  private static final int CONCURRENCY = 64;
  private static final long DELAY_MS = 50;
  private static final double LIMIT_PER_SECOND = CONCURRENCY * 1000.0 / DELAY_MS;

  /** The limit is low: more would only take longer. */
  private static final int MESSAGES_MAX = 10_000;

  private static final long LIMIT_MINUTES = 10;

  @Override
  public String name() {
    return "webhook";
  }

  @Override
  public String summary() {
    return "an endpoint that answers after 50 ms, 64 requests at a time, against its limit";
  }

  @Override
  public void run(BenchDatabase database, Options options, Report report) throws Exception {
    int messages = Math.min(options.messages(), MESSAGES_MAX);
    Rounds rounds = new Rounds(database.meter());
    rounds.variant("limit", () -> LIMIT_PER_SECOND);
    rounds.variant(
        "webhook",
        () -> {
          Drain.of(database, options).load(Shape.topic("hooks"), messages);
          return drain(database, messages, options.workers());
        });
    rounds.run(1);
    Rounds.Result result = rounds.run(options.drainRounds());
    report.rates("messages/s", result);
    report.ratio("webhook_vs_limit", result.ratio("webhook", "limit"));
  }

  private static double drain(BenchDatabase database, int messages, int workers) throws Exception {
    try (SlowEndpoint endpoint = new SlowEndpoint(DELAY_MS, messages)) {
      Relay relay =
          Relay.builder(database.dataSource())
              .config(RelayConfig.defaults().withCarriers(workers))
              .destination("endpoint", new WebhookDestination(config(endpoint)))
              .route("bench", "hooks", "endpoint")
              .build();
      long start = System.nanoTime();
      relay.start();
      if (!endpoint.await(LIMIT_MINUTES)) {
        throw new IllegalStateException("not all of " + messages + " messages arrived");
      }
      relay.close(); // settles the last ones: part of the work
      return messages / ((System.nanoTime() - start) / 1e9);
    }
  }

  /** Signed as in earnest: the signature is part of the work. */
  private static WebhookConfig config(SlowEndpoint endpoint) {
    return WebhookConfig.to(endpoint.url())
        .key("whsec_YSBzaWduaW5nIGtleSBmb3IgdGhlIGJlbmNobWFyaw==")
        .concurrency(CONCURRENCY)
        .allowNet("127.0.0.1")
        .build();
  }
}
