package dev.postrider.server;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

record PemTls(Path certificates, Path key) implements Tls {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----(.+?)-----END PRIVATE KEY-----", Pattern.DOTALL);
  private static final List<String> ALGORITHMS = List.of("RSA", "EC", "EdDSA");

  @Override
  public KeyStore load() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry("server", privateKey(), keyPassword().toCharArray(), chain());
    return store;
  }

  private Certificate[] chain() throws IOException, GeneralSecurityException {
    try (InputStream in = Files.newInputStream(certificates)) {
      Certificate[] chain =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(in)
              .toArray(Certificate[]::new);
      if (chain.length == 0) {
        throw new GeneralSecurityException(certificates + " holds no certificate");
      }
      return chain;
    }
  }

  private PrivateKey privateKey() throws IOException, GeneralSecurityException {
    Matcher pem = KEY.matcher(Files.readString(key));
    if (!pem.find()) {
      throw new GeneralSecurityException(
          key + " holds no unencrypted PKCS #8 key (BEGIN PRIVATE KEY)");
    }
    PKCS8EncodedKeySpec spec =
        new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1)));
    for (String algorithm : ALGORITHMS) {
      @Nullable PrivateKey found = read(algorithm, spec);
      if (found != null) {
        return found;
      }
    }
    throw new GeneralSecurityException(key + " is neither an RSA, an EC nor an EdDSA key");
  }

  /** Null if it is a key of another algorithm. */
  private static @Nullable PrivateKey read(String algorithm, PKCS8EncodedKeySpec spec)
      throws GeneralSecurityException {
    try {
      return KeyFactory.getInstance(algorithm).generatePrivate(spec);
    } catch (InvalidKeySpecException e) {
      return null;
    }
  }

  /** Only for the store in memory. */
  @Override
  public String keyPassword() {
    return "in memory";
  }
}
