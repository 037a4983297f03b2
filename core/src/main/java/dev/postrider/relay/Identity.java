package dev.postrider.relay;

import dev.postrider.internal.protocol.Version;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Which relay this is. Immutable.
 *
 * @param instance tells this process from another with the same name
 * @param version of Postrider
 * @param listens whether it listens for rings; false if it only polls
 */
record Identity(
    String name, String instance, String version, String host, long pid, boolean listens) {
  static Identity of(String name, String instance, boolean listens) {
    long pid = ProcessHandle.current().pid();
    return new Identity(name, instance, Version.current(), localHost(), pid, listens);
  }

  /** The environment first: asking the system may ask a name server. */
  private static String localHost() {
    String named = System.getenv("HOSTNAME");
    if (named != null && !named.isBlank()) {
      return named;
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }
}
