package dev.postrider.server;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;

record KeystoreTls(Path file, String keyPassword) implements Tls {
  @Override
  public KeyStore load() throws IOException, GeneralSecurityException {
    return KeyStore.getInstance(file.toFile(), keyPassword.toCharArray());
  }

  @Override
  public String toString() {
    return "keystore " + file;
  }
}
