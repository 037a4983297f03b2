package dev.postrider.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.PostriderException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The addresses that attackers try, in the ways that they write them. */
@Tag("OP-6")
class AddressCorpusTest {
  private static final AddressGuard.OwnAddresses NONE = Stream::empty;

  private static AddressGuard guard(String... nets) {
    List<Cidr> allowed = Stream.of(nets).map(Cidr::parse).toList();
    return new AddressGuard(Set.of(), allowed, NONE);
  }

  private static InetAddress address(String literal) {
    try {
      return InetAddress.getAllByName(literal)[0];
    } catch (UnknownHostException e) {
      throw new AssertionError(literal, e);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0.0.0.0, unspecified",
    "0.1.2.3, unspecified",
    "10.0.0.0, private",
    "10.255.255.255, private",
    "100.64.0.1, carrier-grade NAT",
    "100.100.100.200, carrier-grade NAT",
    "100.127.255.255, carrier-grade NAT",
    "127.0.0.1, loopback",
    "127.255.255.254, loopback",
    "168.63.129.16, a cloud platform's service",
    "169.254.0.1, link-local",
    "169.254.169.254, link-local",
    "169.254.170.2, link-local",
    "172.16.0.1, private",
    "172.31.255.255, private",
    "192.0.0.192, reserved for protocols",
    "192.0.2.1, documentation",
    "192.31.196.1, reserved for AS112",
    "192.52.193.1, reserved for AMT",
    "192.88.99.1, 6to4 relay",
    "192.168.0.1, private",
    "192.168.255.255, private",
    "192.175.48.1, reserved for AS112",
    "198.18.0.1, benchmarking",
    "198.19.255.255, benchmarking",
    "198.51.100.7, documentation",
    "203.0.113.7, documentation",
    "224.0.0.1, multicast",
    "239.255.255.250, multicast",
    "240.0.0.1, reserved",
    "255.255.255.254, reserved",
    "255.255.255.255, broadcast",
    "::, unspecified",
    "::1, loopback",
    "0:0:0:0:0:0:0:1, loopback",
    "::127.0.0.1, IPv4-compatible",
    "::10.0.0.1, IPv4-compatible",
    "::ffff:127.0.0.1, loopback",
    "::ffff:7f00:1, loopback",
    "::ffff:10.0.0.1, private",
    "::ffff:169.254.169.254, link-local",
    "::ffff:0:127.0.0.1, reserved",
    "64:ff9b::7f00:1, NAT64",
    "64:ff9b::169.254.169.254, NAT64",
    "64:ff9b::8.8.8.8, NAT64",
    "64:ff9b:1::a00:1, NAT64",
    "100::1, discarded",
    "2001::1, Teredo",
    "2001:0:53aa:64c::80ff:fffe, Teredo",
    "2001:2::1, benchmarking",
    "2001:10::1, reserved for protocols",
    "2001:20::1, reserved for protocols",
    "2001:db8::1, documentation",
    "2002:7f00:1::, 6to4",
    "2002:a00:1::1, 6to4",
    "2002:808:808::1, 6to4",
    "2620:4f:8000::1, reserved for AS112",
    "3fff::1, documentation",
    "fc00::1, unique-local",
    "fd00:ec2::254, unique-local",
    "fdff:ffff::1, unique-local",
    "fe80::1, link-local",
    "febf::1, link-local",
    "fec0::1, site-local",
    "ff02::1, multicast",
    "ff0e::1, multicast",
    "4000::1, reserved",
    "5f00::1, reserved",
    "1fff::1, reserved",
  })
  void refuses(String literal, String reason) throws Exception {
    assertThat(guard().refusal("host", address(literal), false)).isEqualTo(reason);
    // Nor does the URL get that far.
    String host = literal.indexOf(':') < 0 ? literal : "[" + literal + "]";
    assertThatThrownBy(() -> WebhookConfig.to("https://" + host + "/").key(Hooks.SECRET).build())
        .isInstanceOf(PostriderException.class)
        .hasMessageContaining("one that is " + reason);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "::ffff:8.8.8.8",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2003::1",
        "2606:4700:4700::1111",
        "2a00:1450:4001::1",
        "3ffe::1",
      })
  void allows(String literal) throws Exception {
    assertThat(guard().refusal("host", address(literal), false)).isNull();
    assertThat(guard().refusal("host", address(literal), true))
        .isEqualTo("not allowed without TLS");
  }

  /** To some resolvers each of these is an address; to us none is a host. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0x7f.0.0.1",
        "017700000001",
        "0177.0.0.1",
        "0177.0.0.01",
        "127.1",
        "127.0.1",
        "127.0.0.01",
        "127.000.000.001",
        "127.0.0.1.",
        "127.0.0.256",
        "127.0.0.0x1",
        "10.0x1",
        "1.1.1.1.1",
        "0",
        "0x",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[::1%lo]",
        "[::ffff:127.0.0.1%1]",
        "[0177.0.0.1]",
        "[127.0.0.1]",
        "[::1",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "127.0.0.1%00.example.com",
        "localhost\\@example.com",
        "exa_mple.com",
        "",
      })
  void refusesWhatIsNoUsualNotation(String host) {
    assertThatThrownBy(() -> WebhookConfig.to("https://" + host + "/").key(Hooks.SECRET).build())
        .isInstanceOf(PostriderException.class)
        .hasMessageStartingWith("webhook: expected ");
  }

  @Test
  void aZoneMakesNoDifference() throws Exception {
    byte[] bytes = address("fe80::1").getAddress();
    InetAddress zoned = Inet6Address.getByAddress(null, bytes, 1);
    assertThat(guard().refusal("host", zoned, false)).isEqualTo("link-local");
    byte[] mapped = new byte[16];
    mapped[10] = -1;
    mapped[11] = -1;
    mapped[12] = 10;
    InetAddress kept = Inet6Address.getByAddress(null, mapped, 1);
    assertThat(kept.getAddress()).hasSize(16);
    assertThat(guard().refusal("host", kept, false)).isEqualTo("private");
  }

  @Test
  void thisHostsOwnAddressesAreRefusedHoweverPublic() throws Exception {
    AddressGuard guard =
        new AddressGuard(
            Set.of(), List.of(), () -> Stream.of(address("8.8.8.8"), address("2a00::7")));
    assertThat(guard.refusal("host", address("8.8.8.8"), false)).isEqualTo("this host's own");
    assertThat(guard.refusal("host", address("2a00::7"), false)).isEqualTo("this host's own");
    assertThat(guard.refusal("host", address("8.8.8.9"), false)).isNull();
    assertThat(AddressGuard.INTERFACES.list()).contains(InetAddress.getLoopbackAddress());
  }

  @Test
  void whatIsAllowedExplicitlyIsAllowedAndNothingBesideIt() throws Exception {
    AddressGuard guard = guard("10.1.0.0/16", "fd00:1::/32", "127.0.0.1");
    assertThat(guard.refusal("host", address("10.1.255.255"), true)).isNull();
    assertThat(guard.refusal("host", address("::ffff:10.1.0.1"), false)).isNull();
    assertThat(guard.refusal("host", address("fd00:1::1"), false)).isNull();
    assertThat(guard.refusal("host", address("127.0.0.1"), false)).isNull();
    assertThat(guard.refusal("host", address("10.2.0.0"), false)).isEqualTo("private");
    assertThat(guard.refusal("host", address("10.0.255.255"), false)).isEqualTo("private");
    assertThat(guard.refusal("host", address("fd00:2::1"), false)).isEqualTo("unique-local");
    assertThat(guard.refusal("host", address("127.0.0.2"), false)).isEqualTo("loopback");
    assertThat(guard.refusal("host", address("8.8.8.8"), true))
        .isEqualTo("not allowed without TLS");
  }

  @Test
  void anAllowedNameMayLeadAnywhere() throws Exception {
    AddressGuard guard = new AddressGuard(Set.of("inside.example"), List.of(), NONE);
    assertThat(guard.refusal("inside.example", address("10.0.0.1"), true)).isNull();
    assertThat(guard.refusal("outside.example", address("10.0.0.1"), true)).isEqualTo("private");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "10/8", "fc00::/129", "x/8", ""})
  void aRangeMustBeOne(String text) {
    assertThat(Cidr.parse(text)).isNull();
  }
}
