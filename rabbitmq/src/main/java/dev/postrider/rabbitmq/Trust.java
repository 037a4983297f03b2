package dev.postrider.rabbitmq;

import dev.postrider.message.PostriderException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Whose certificates are believed. Holds no state. */
final class Trust {
  private Trust() {}

  static SSLContext platform() {
    try {
      return SSLContext.getDefault();
    } catch (GeneralSecurityException e) {
      throw new PostriderException("this Java has no default TLS context", e);
    }
  }

  static SSLContext store(Path file, String password) {
    try {
      KeyStore store = KeyStore.getInstance(file.toFile(), password.toCharArray());
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new PostriderException("the trust store " + file + " cannot be used", e);
    }
  }
}
