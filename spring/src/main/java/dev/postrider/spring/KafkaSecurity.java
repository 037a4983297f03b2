package dev.postrider.spring;

import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/** Login and TLS of Kafka's client, as the texts that it is configured with. */
final class KafkaSecurity {
  private static final String PROTOCOL = "security.protocol";
  private static final Base64.Encoder LINES = Base64.getMimeEncoder(64, new byte[] {'\n'});

  private KafkaSecurity() {}

  /**
   * What Spring's producer signs in with.
   *
   * @param producer all settings of that producer
   */
  static Map<String, String> of(Map<?, ?> producer) {
    Map<String, String> security = new TreeMap<>();
    producer.forEach(
        (key, value) -> {
          String name = String.valueOf(key);
          if (value != null && name.matches("(security|sasl|ssl)\\..*")) {
            security.put(name, text(value));
          }
        });
    // Spring passes its bundle to an engine factory that knows no other way to get it.
    if (producer.get(SslBundle.class.getName()) instanceof SslBundle bundle) {
      security.remove("ssl.engine.factory.class");
      security.putAll(of(bundle));
    }
    return security;
  }

  private static String text(Object value) {
    if (value instanceof Class<?> type) {
      return type.getName();
    }
    return value instanceof Collection<?> many
        ? many.stream().map(String::valueOf).collect(Collectors.joining(","))
        : String.valueOf(value);
  }

  /** The key and the trusted certificates of a bundle. */
  static Map<String, String> of(SslBundle bundle) {
    Map<String, String> tls = new TreeMap<>();
    try {
      trust(bundle.getStores().getTrustStore(), tls);
      key(bundle, tls);
    } catch (GeneralSecurityException e) {
      throw new StartException(
          "The SSL bundle of a Kafka destination cannot be read: " + e.getMessage(),
          "Check its stores and passwords under spring.ssl.bundle.",
          e);
    }
    String[] protocols = bundle.getOptions().getEnabledProtocols();
    if (protocols != null) {
      tls.put("ssl.enabled.protocols", String.join(",", protocols));
    }
    return tls;
  }

  /** Turns TLS on, unless the settings name a protocol. */
  static void useTls(Map<String, String> settings) {
    settings.putIfAbsent(PROTOCOL, "SSL");
  }

  private static void trust(@Nullable KeyStore store, Map<String, String> tls)
      throws GeneralSecurityException {
    if (store == null) {
      return;
    }
    StringBuilder certificates = new StringBuilder();
    for (String alias : Collections.list(store.aliases())) {
      certificates.append(pem("CERTIFICATE", store.getCertificate(alias).getEncoded()));
    }
    tls.put("ssl.truststore.type", "PEM");
    tls.put("ssl.truststore.certificates", certificates.toString());
  }

  private static void key(SslBundle bundle, Map<String, String> tls)
      throws GeneralSecurityException {
    KeyStore store = bundle.getStores().getKeyStore();
    if (store == null) {
      return;
    }
    String alias = bundle.getKey().getAlias();
    for (String found : Collections.list(store.aliases())) {
      if (store.isKeyEntry(found) && (alias == null || alias.equalsIgnoreCase(found))) {
        Key key = store.getKey(found, password(bundle));
        StringBuilder chain = new StringBuilder();
        for (Certificate certificate : store.getCertificateChain(found)) {
          chain.append(pem("CERTIFICATE", certificate.getEncoded()));
        }
        tls.put("ssl.keystore.type", "PEM");
        tls.put("ssl.keystore.certificate.chain", chain.toString());
        tls.put("ssl.keystore.key", pem("PRIVATE KEY", key.getEncoded()));
        return;
      }
    }
  }

  private static char @Nullable [] password(SslBundle bundle) {
    String password = bundle.getKey().getPassword();
    if (password == null) {
      password = bundle.getStores().getKeyStorePassword();
    }
    return password == null ? null : password.toCharArray();
  }

  private static String pem(String type, byte[] content) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(type, LINES.encodeToString(content), type);
  }
}
