package dev.postrider.webhook;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A range of addresses such as {@code 10.0.0.0/8} or {@code fc00::/7}; a single address without a
 * slash. Immutable.
 */
record Cidr(byte[] network, int bits) {
  private static final String OCTET = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
  private static final Pattern IPV4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");
  private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

  /** Null if it is none, or has bits beyond its prefix. */
  static @Nullable Cidr parse(String text) {
    int slash = text.indexOf('/');
    byte[] network = literal(slash < 0 ? text : text.substring(0, slash));
    if (network == null) {
      return null;
    }
    int max = network.length * 8;
    int bits = slash < 0 ? max : number(text.substring(slash + 1));
    if (bits < 0 || bits > max) {
      return null;
    }
    Cidr cidr = new Cidr(network, bits);
    return Arrays.equals(cidr.masked(network), network) ? cidr : null;
  }

  /** The bytes of an address in its usual notation, without asking any name server. */
  static byte @Nullable [] literal(String text) {
    if (!IPV4.matcher(text).matches() && !IPV6.matcher(text).matches()) {
      return null;
    }
    try {
      return bytes(InetAddress.getByName(text));
    } catch (UnknownHostException e) {
      return null;
    }
  }

  /** An address's bytes; four for an IPv4 address, also one that is mapped into IPv6. */
  static byte[] bytes(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (bytes.length == 16 && isMapped(bytes)) {
      return Arrays.copyOfRange(bytes, 12, 16);
    }
    return bytes;
  }

  private static boolean isMapped(byte[] bytes) {
    for (int i = 0; i < 10; i++) {
      if (bytes[i] != 0) {
        return false;
      }
    }
    return bytes[10] == -1 && bytes[11] == -1;
  }

  private static int number(String text) {
    return text.matches("\\d{1,3}") ? Integer.parseInt(text) : -1;
  }

  boolean contains(byte[] address) {
    return address.length == network.length && Arrays.equals(masked(address), network);
  }

  private byte[] masked(byte[] address) {
    byte[] masked = new byte[address.length];
    for (int i = 0; i < masked.length; i++) {
      int kept = Math.min(8, Math.max(0, bits - 8 * i));
      masked[i] = (byte) (address[i] & (0xff00 >> kept));
    }
    return masked;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Cidr cidr && bits == cidr.bits && Arrays.equals(network, cidr.network);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(network) + bits;
  }

  @Override
  public String toString() {
    try {
      return InetAddress.getByAddress(network).getHostAddress() + "/" + bits;
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }
}
