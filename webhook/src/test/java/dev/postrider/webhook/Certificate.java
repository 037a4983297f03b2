package dev.postrider.webhook;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A certificate made by keytool: a context for the server, and one for clients that trust it. */
final class Certificate {
  static final String HOST = "hooks.test";
  private static final String PASSWORD = "changeit";
  private static Certificate valid;

  private final KeyStore store;

  private Certificate(String host, String startDate) {
    try {
      Path file = Files.createTempDirectory("postrider-webhook").resolve("keys.p12");
      keytool(file, host, startDate);
      this.store = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(file)) {
        store.load(in, PASSWORD.toCharArray());
      }
      Files.delete(file);
      Files.delete(file.getParent());
    } catch (IOException | GeneralSecurityException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** For hooks.test and 127.0.0.1, valid for ten days. */
  static synchronized Certificate valid() {
    if (valid == null) {
      valid = new Certificate(HOST, "-1d");
    }
    return valid;
  }

  static Certificate expired() {
    return new Certificate(HOST, "-30d");
  }

  static Certificate ofAnotherHost() {
    return new Certificate("other.test", "-1d");
  }

  private static void keytool(Path file, String host, String startDate)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + host,
                "-ext",
                "san=dns:" + host,
                "-startdate",
                startDate,
                "-validity",
                "10",
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-keystore",
                file.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new IllegalStateException("keytool failed: " + said);
    }
  }

  SSLContext server() {
    try {
      KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
      keys.init(store, PASSWORD.toCharArray());
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  SSLContext client() {
    try {
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      trusted.setCertificateEntry("server", store.getCertificate("server"));
      TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
