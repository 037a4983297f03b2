package dev.postrider.server.access;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Addresses with the same first bits. Immutable.
 *
 * @param first with all other bits 0
 */
public record Network(InetAddress first, int bits) {
  private static final String BYTE = "(25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})";

  /** Exact enough that Java takes what matches for an address, and does not look a name up. */
  private static final Pattern ADDRESS =
      Pattern.compile(BYTE + "(\\." + BYTE + "){3}|[0-9a-fA-F]{0,4}:[0-9a-fA-F:.]*");

  /** What one customer of a provider has. */
  private static final int V6_CALLER_BITS = 64;

  public Network {
    int size = 8 * first.getAddress().length;
    if (bits < 0 || bits > size) {
      throw new IllegalArgumentException("a prefix must have 0 to " + size + " bits, got " + bits);
    }
    first = masked(first, bits);
  }

  /** An address, or one with the number of bits that count, such as {@code 10.0.0.0/8}. */
  static Network of(String text) {
    String[] parts = text.trim().split("/", -1);
    @Nullable InetAddress address = address(parts[0]);
    boolean whole = parts.length == 1;
    if (address == null || parts.length > 2 || (!whole && !parts[1].matches("[0-9]{1,3}"))) {
      throw new IllegalArgumentException(
          "expected an address or a network such as 10.0.0.0/8, got " + text);
    }
    return new Network(
        address, whole ? 8 * address.getAddress().length : Integer.parseInt(parts[1]));
  }

  /** What counts as one caller: an IPv4 address, or 64 bits of an IPv6 address. */
  static Network ofCaller(InetAddress address) {
    return new Network(address, address instanceof Inet4Address ? 32 : V6_CALLER_BITS);
  }

  /** Null if it is not on a network. */
  public static @Nullable Network ofPeer(@Nullable SocketAddress peer) {
    return peer instanceof InetSocketAddress inet && inet.getAddress() != null
        ? ofCaller(inet.getAddress())
        : null;
  }

  /** Null if it is no address. Never asks a name server. */
  static @Nullable InetAddress address(String text) {
    if (!ADDRESS.matcher(text).matches()) {
      return null;
    }
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException e) {
      return null;
    }
  }

  boolean contains(InetAddress address) {
    return address.getAddress().length == first.getAddress().length
        && masked(address, bits).equals(first);
  }

  private static InetAddress masked(InetAddress address, int bits) {
    byte[] bytes = address.getAddress();
    for (int bit = bits; bit < 8 * bytes.length; bit++) {
      bytes[bit / 8] &= (byte) ~(0x80 >> bit % 8);
    }
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new AssertionError("the length is that of an address", e);
    }
  }

  @Override
  public String toString() {
    boolean whole = bits == 8 * first.getAddress().length;
    return first.getHostAddress() + (whole ? "" : "/" + bits);
  }
}
