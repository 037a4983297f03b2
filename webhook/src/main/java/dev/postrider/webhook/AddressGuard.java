package dev.postrider.webhook;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Says which addresses may be connected to: public ones that are not this host's own, and those
 * that were allowed by name or range. Thread-safe.
 */
final class AddressGuard {
  private final Set<String> allowedHosts;
  private final List<Cidr> allowedNets;
  private final OwnAddresses own;

  /** The addresses of this host at the moment. */
  @FunctionalInterface
  interface OwnAddresses {
    Stream<InetAddress> list() throws IOException;
  }

  /** Asked anew for each connection: interfaces come and go. */
  static final OwnAddresses INTERFACES =
      () -> NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses);

  /**
   * @param allowedHosts in lower case
   */
  AddressGuard(Set<String> allowedHosts, List<Cidr> allowedNets, OwnAddresses own) {
    this.allowedHosts = Set.copyOf(allowedHosts);
    this.allowedNets = List.copyOf(allowedNets);
    this.own = own;
  }

  /**
   * Why the address may not be connected to; null if it may.
   *
   * @param plain whether the connection would not be encrypted, which only what was allowed
   *     explicitly may be
   */
  @Nullable String refusal(String host, InetAddress address, boolean plain) throws IOException {
    byte[] bytes = Cidr.bytes(address);
    if (allowedHosts.contains(host) || allowedNets.stream().anyMatch(net -> net.contains(bytes))) {
      return null;
    }
    String reserved = ReservedNets.reason(bytes);
    if (reserved != null) {
      return reserved;
    }
    if (isOwn(bytes)) {
      return "this host's own";
    }
    return plain ? "not allowed without TLS" : null;
  }

  private boolean isOwn(byte[] address) throws IOException {
    try (Stream<InetAddress> addresses = own.list()) {
      return addresses.anyMatch(mine -> Arrays.equals(Cidr.bytes(mine), address));
    }
  }
}
