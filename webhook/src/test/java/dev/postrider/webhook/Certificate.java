package dev.postrider.webhook;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A certificate made by keytool: a context for the server, and one for clients that trust it. */
final class Certificate {
  static final String HOST = "hooks.test";
  private static final String STORE = "keys.p12";
  private static final String PASSWORD = "changeit";
  private static Certificate valid;

  private final KeyStore store;

  private Certificate(String host, String startDate) {
    try {
      Path folder = Files.createTempDirectory("postrider-webhook");
      make(folder, host, startDate);
      this.store = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(folder.resolve(STORE))) {
        store.load(in, PASSWORD.toCharArray());
      }
      for (String file : List.of(STORE, "request", "signed")) {
        Files.delete(folder.resolve(file));
      }
      Files.delete(folder);
    } catch (IOException | GeneralSecurityException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** For hooks.test, valid for ten days. */
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
    return of("other.test");
  }

  static Certificate of(String host) {
    return new Certificate(host, "-1d");
  }

  /**
   * A certificate signed by an authority of its own: Java never looks at the dates of one that is
   * trusted directly.
   */
  private static void make(Path folder, String host, String startDate)
      throws IOException, InterruptedException {
    String store = folder.resolve(STORE).toString();
    String request = folder.resolve("request").toString();
    String signed = folder.resolve("signed").toString();
    keytool(store, "-genkeypair -alias authority -keyalg EC -dname CN=authority -ext bc:c");
    keytool(store, "-genkeypair -alias server -keyalg EC -dname CN=" + host);
    keytool(store, "-certreq -alias server -file " + request);
    keytool(
        store,
        "-gencert -alias authority -validity 10 -startdate %s -ext san=dns:%s -infile %s -outfile %s"
            .formatted(startDate, host, request, signed));
    keytool(store, "-importcert -noprompt -alias server -file " + signed);
  }

  private static void keytool(String store, String arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments.split(" ", -1)));
    command.addAll(List.of("-storetype", "PKCS12", "-storepass", PASSWORD, "-keystore", store));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new IllegalStateException("keytool failed: " + said);
    }
  }

  SSLContext server() {
    try {
      KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
      KeyStore own = KeyStore.getInstance("PKCS12");
      own.load(null, null);
      own.setKeyEntry(
          "server",
          store.getKey("server", PASSWORD.toCharArray()),
          PASSWORD.toCharArray(),
          store.getCertificateChain("server"));
      keys.init(own, PASSWORD.toCharArray());
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  SSLContext client() {
    try {
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      trusted.setCertificateEntry("authority", store.getCertificate("authority"));
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
