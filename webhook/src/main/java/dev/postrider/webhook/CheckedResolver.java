package dev.postrider.webhook;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.apache.hc.client5.http.DnsResolver;

/**
 * Resolves the endpoint's name as it was configured, whatever the client makes of it: it decodes
 * {@code xn--}, and what comes of encoding that again may be another name. Once per connection, and
 * hands the very addresses that were checked to the connection: there is no second look-up that a
 * name server could answer differently. One refused address refuses them all, since a name that
 * leads inside is no honest public name. Thread-safe.
 */
final class CheckedResolver implements DnsResolver {
  private final Lookup lookup;
  private final AddressGuard guard;
  private final WebhookUrl endpoint;

  /** Asks a name server. */
  @FunctionalInterface
  interface Lookup {
    InetAddress[] addresses(String host) throws UnknownHostException;
  }

  CheckedResolver(Lookup lookup, AddressGuard guard, WebhookUrl endpoint) {
    this.lookup = lookup;
    this.guard = guard;
    this.endpoint = endpoint;
  }

  @Override
  public InetAddress[] resolve(String decoded) throws UnknownHostException {
    String name = endpoint.host();
    InetAddress[] addresses = lookup.addresses(name);
    if (addresses == null || addresses.length == 0) {
      throw new UnknownHostException(name);
    }
    for (InetAddress address : addresses) {
      check(name, address);
    }
    return addresses;
  }

  private void check(String name, InetAddress address) throws UnknownHostException {
    String refusal;
    try {
      refusal = guard.refusal(name, address, endpoint.plain());
    } catch (IOException e) {
      refusal = "unknown to be this host's own or not: " + e.getMessage();
    }
    if (refusal != null) {
      throw new RefusedAddressException(
          name + " leads to " + address.getHostAddress() + ", which is " + refusal);
    }
  }

  @Override
  public String resolveCanonicalHostname(String host) {
    return host;
  }
}
