package dev.postrider.webhook;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the public internet does not route, or what only looks public: the special-purpose
 * registries of IANA, the tunnels that carry an IPv4 address inside an IPv6 one, and the services
 * of cloud platforms behind public addresses. The first row that holds an address names the reason.
 * The JDK's own predicates miss most of these. Thread-safe.
 */
final class ReservedNets {
  private record Row(Cidr net, String reason) {}

  private static final List<Row> ROWS =
      List.of(
          row("0.0.0.0/8", "unspecified"),
          row("10.0.0.0/8", "private"),
          row("100.64.0.0/10", "carrier-grade NAT"),
          row("127.0.0.0/8", "loopback"),
          row("168.63.129.16", "a cloud platform's service"),
          row("169.254.0.0/16", "link-local"),
          row("172.16.0.0/12", "private"),
          row("192.0.0.0/24", "reserved for protocols"),
          row("192.0.2.0/24", "documentation"),
          row("192.31.196.0/24", "reserved for AS112"),
          row("192.52.193.0/24", "reserved for AMT"),
          row("192.88.99.0/24", "6to4 relay"),
          row("192.168.0.0/16", "private"),
          row("192.175.48.0/24", "reserved for AS112"),
          row("198.18.0.0/15", "benchmarking"),
          row("198.51.100.0/24", "documentation"),
          row("203.0.113.0/24", "documentation"),
          row("224.0.0.0/4", "multicast"),
          row("255.255.255.255", "broadcast"),
          row("240.0.0.0/4", "reserved"),
          row("::", "unspecified"),
          row("::1", "loopback"),
          row("::/96", "IPv4-compatible"),
          row("64:ff9b::/96", "NAT64"),
          row("64:ff9b:1::/48", "NAT64"),
          row("100::/64", "discarded"),
          row("2001::/32", "Teredo"),
          row("2001:2::/48", "benchmarking"),
          row("2001::/23", "reserved for protocols"),
          row("2001:db8::/32", "documentation"),
          row("2002::/16", "6to4"),
          row("2620:4f:8000::/48", "reserved for AS112"),
          row("3fff::/20", "documentation"),
          row("fc00::/7", "unique-local"),
          row("fe80::/10", "link-local"),
          row("fec0::/10", "site-local"),
          row("ff00::/8", "multicast"));

  private static final Cidr GLOBAL_UNICAST = Objects.requireNonNull(Cidr.parse("2000::/3"));

  private ReservedNets() {}

  private static Row row(String net, String reason) {
    return new Row(Objects.requireNonNull(Cidr.parse(net), net), reason);
  }

  /** Why the address is no public one; null if it is. */
  static @Nullable String reason(byte[] address) {
    for (Row row : ROWS) {
      if (row.net().contains(address)) {
        return row.reason();
      }
    }
    // Whatever IANA has not yet given out for use is nobody's webhook.
    return address.length == 16 && !GLOBAL_UNICAST.contains(address) ? "reserved" : null;
  }
}
