package dev.postrider.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A key and a certificate made out to localhost, by the JDK's own tool, in a PKCS #12 file. It
 * serves a broker as its identity and its clients as what they trust.
 */
record KeyStore(Path file, String password) {
  static KeyStore create(String password) {
    try {
      Path directory = Files.createTempDirectory("postrider-keys");
      directory.toFile().deleteOnExit();
      Path file = directory.resolve("keys.p12");
      file.toFile().deleteOnExit();
      run(
          ("-genkeypair -alias broker -keyalg EC -validity 2 -dname CN=localhost"
                  + " -ext SAN=dns:localhost -storetype PKCS12 -keystore %s -storepass %s")
              .formatted(file, password));
      return new KeyStore(file, password);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void run(String arguments) throws IOException {
    Path tool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    ProcessBuilder builder = new ProcessBuilder(tool.toString());
    builder.command().addAll(List.of(arguments.split(" ")));
    Process process =
        builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IllegalStateException("keytool failed");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The broker's settings. */
  Map<String, String> identity() {
    return Map.of(
        "listener.name.tls.ssl.keystore.location",
        file.toString(),
        "listener.name.tls.ssl.keystore.password",
        password,
        "listener.name.tls.ssl.keystore.type",
        "PKCS12");
  }

  /** A client's settings. */
  Map<String, String> trust() {
    return Map.of(
        "security.protocol",
        "SSL",
        "ssl.truststore.location",
        file.toString(),
        "ssl.truststore.password",
        password,
        "ssl.truststore.type",
        "PKCS12");
  }
}
