package dev.postrider.server.access;

import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whose request it is. A proxy that is trusted says for whom it asks, in {@code
 * X-Forwarded-For}; from anybody else that header means nothing. Immutable.
 */
public record Proxies(List<Network> trusted) {
  /** Nobody is trusted: the caller is whoever has the connection. */
  public static final Proxies NONE = new Proxies(List.of());

  public Proxies {
    trusted = List.copyOf(trusted);
  }

  /**
   * Trusts these addresses, or networks such as {@code 10.0.0.0/8}.
   *
   * @throws IllegalArgumentException if a text is neither
   */
  public static Proxies of(List<String> texts) {
    return new Proxies(texts.stream().map(Network::of).toList());
  }

  /** Whether a connection from there is a trusted proxy's. */
  public boolean trust(InetAddress address) {
    return trusted.stream().anyMatch(network -> network.contains(address));
  }

  /**
   * The caller, as a name to count by.
   *
   * @param peer who has the connection; if by IPv6, in brackets, as Jetty says it, and perhaps with
   *     the network interface
   * @param forwardedFor the header's values, as they came
   */
  String caller(String peer, List<String> forwardedFor) {
    @Nullable InetAddress caller = Network.address(bare(peer));
    if (caller == null) {
      return peer;
    }
    // Each proxy appends whom it heard; what stands before a stranger's address is only claimed.
    String[] hops = String.join(",", forwardedFor).split(",", -1);
    for (int i = hops.length - 1; i >= 0 && trust(caller); i--) {
      @Nullable InetAddress before = Network.address(bare(hops[i].trim()));
      if (before == null) {
        break;
      }
      caller = before;
    }
    return Network.ofCaller(caller).toString();
  }

  /** Without brackets, network interface and port, which some proxies add. */
  private static String bare(String hop) {
    if (hop.startsWith("[")) {
      int end = hop.indexOf(']');
      return end < 0 ? hop : hop.substring(1, end).replaceFirst("%.*", "");
    }
    int colon = hop.indexOf(':');
    return colon > 0 && colon == hop.lastIndexOf(':') ? hop.substring(0, colon) : hop;
  }
}
