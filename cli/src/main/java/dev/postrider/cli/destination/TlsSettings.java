package dev.postrider.cli.destination;

import dev.postrider.cli.settings.Section;
import dev.postrider.message.PostriderException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Whose certificates are believed, and which one we show. Stores are PKCS #12 or JKS, and are read
 * when a relay starts. Immutable; shows no password.
 *
 * @param trust null for the certificates that Java trusts
 * @param own null to show none
 */
record TlsSettings(@Nullable Store trust, @Nullable Store own) {
  /** Nothing but what Java has. */
  static final TlsSettings PLAIN = new TlsSettings(null, null);

  /** A file of certificates or keys. */
  record Store(Path file, String password) {
    @Override
    public String toString() {
      return file.toString();
    }

    private KeyStore open() throws IOException, GeneralSecurityException {
      return KeyStore.getInstance(file.toFile(), password.toCharArray());
    }
  }

  static TlsSettings read(Section section) {
    return new TlsSettings(store(section, "trust-store"), store(section, "key-store"));
  }

  private static @Nullable Store store(Section section, String key) {
    @Nullable String file = section.text(key);
    @Nullable String password = section.secret(key + "-password");
    if (file == null && password != null) {
      section.problem(key, "missing; its password is there");
    }
    return file == null ? null : new Store(Path.of(file), password == null ? "" : password);
  }

  /** Fails with the name of the store that cannot be used. */
  SSLContext context() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys(), certificates(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new PostriderException("TLS with " + this + ": " + e.getMessage(), e);
    }
  }

  private TrustManager @Nullable [] certificates() throws IOException, GeneralSecurityException {
    if (trust == null) {
      return null;
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(trust.open());
    return factory.getTrustManagers();
  }

  private KeyManager @Nullable [] keys() throws IOException, GeneralSecurityException {
    if (own == null) {
      return null;
    }
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(own.open(), own.password().toCharArray());
    return factory.getKeyManagers();
  }
}
