package dev.postrider.testkit;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The broker for tests that do it no harm and take names of their own: the one that the environment
 * names, or one that is started for all tests of this process and ends with it. Thread-safe.
 */
public final class TestRabbit {
  /** The environment's variable with the address, such as {@code amqp://user:password@host}. */
  public static final String VARIABLE = "POSTRIDER_TEST_AMQP";

  private static @Nullable RabbitServer own;

  private TestRabbit() {}

  /** Where it is. Fails if the environment names one that does not answer. */
  public static String uri() {
    return uri(System.getenv(VARIABLE));
  }

  static String uri(@Nullable String named) {
    if (named == null || named.isBlank()) {
      return own().uri();
    }
    URI uri = address(named);
    if ("amqp".equals(uri.getScheme()) && !RabbitServer.answers(uri.getHost(), port(uri))) {
      throw new IllegalStateException(
          "%s names a broker at %s:%d, which does not answer. Start it, or unset the variable:"
                  .formatted(VARIABLE, uri.getHost(), port(uri))
              + " then tests start their own (Debian: apt-get install rabbitmq-server)");
    }
    return named;
  }

  /** Says nothing of what was given: there may be a password in it. */
  private static URI address(String named) {
    try {
      URI uri = URI.create(named);
      if (uri.getHost() != null && String.valueOf(uri.getScheme()).matches("amqps?")) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      // Its message repeats the text.
    }
    throw new IllegalStateException(
        VARIABLE + ": expected a URI as amqp[s]://user:password@host:port/vhost");
  }

  private static int port(URI uri) {
    return uri.getPort() < 0 ? 5672 : uri.getPort();
  }

  /** One that is ours whatever the environment says, for tests that need to be its operator. */
  public static synchronized RabbitServer own() {
    if (own == null) {
      own = RabbitServer.start();
    }
    return own;
  }
}
