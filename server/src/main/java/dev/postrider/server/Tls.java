package dev.postrider.server;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;

/** Where certificate and key come from. Immutable; never shows a password. */
public sealed interface Tls permits KeystoreTls, PemTls {
  /** A PKCS #12 or JKS file. */
  static Tls keystore(Path file, String password) {
    return new KeystoreTls(file, password);
  }

  /** A certificate chain and an unencrypted PKCS #8 key, both PEM. */
  static Tls pem(Path certificates, Path key) {
    return new PemTls(certificates, key);
  }

  /** Reads it; what is wrong with the files is said by the exception. */
  KeyStore load() throws IOException, GeneralSecurityException;

  /** The password of the key in the loaded store. */
  String keyPassword();
}
