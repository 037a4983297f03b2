package dev.postrider.webhook;

import dev.postrider.message.PostriderException;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.EdECPrivateKeySpec;
import java.security.spec.NamedParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs by one key of the Standard Webhooks specification: {@code whsec_} for a shared secret
 * ({@code v1}), {@code whsk_} for a private ed25519 key ({@code v1a}). Never shows the key.
 * Thread-safe.
 */
abstract sealed class SigningKey {
  private static final String SHARED = "whsec_";
  private static final String PRIVATE = "whsk_";
  private static final int SEED_BYTES = 32;

  /** Reads a key; fails with what was expected, without the key itself. */
  static SigningKey parse(String text) {
    if (text.startsWith(SHARED)) {
      byte[] secret = decode(text.substring(SHARED.length()), "whsec_ and 24..64 bytes in base64");
      if (secret.length < 24 || secret.length > 64) {
        throw wrong("whsec_ and 24..64 bytes in base64", secret.length + " bytes");
      }
      return new Shared(secret);
    }
    if (text.startsWith(PRIVATE)) {
      String expected = "whsk_ and a seed of 32 bytes, or seed and public key of 64, in base64";
      byte[] key = decode(text.substring(PRIVATE.length()), expected);
      if (key.length != SEED_BYTES && key.length != 2 * SEED_BYTES) {
        throw wrong(expected, key.length + " bytes");
      }
      return new Ed25519(Arrays.copyOf(key, SEED_BYTES));
    }
    throw wrong("a key that starts with whsec_ or whsk_", "another start");
  }

  private static byte[] decode(String base64, String expected) {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      // Without the cause: its text quotes the key.
      throw wrong(expected, "no base64");
    }
  }

  private static PostriderException wrong(String expected, String given) {
    return new PostriderException("expected " + expected + ", got " + given);
  }

  /** The signature as it stands in the header, over both parts together. */
  final String sign(byte[] head, byte[] body) {
    try {
      return version() + "," + Base64.getEncoder().encodeToString(raw(head, body));
    } catch (GeneralSecurityException e) {
      throw new PostriderException("this Java cannot sign by " + version(), e);
    }
  }

  abstract String version();

  abstract byte[] raw(byte[] head, byte[] body) throws GeneralSecurityException;

  @Override
  public String toString() {
    return version() + " key";
  }

  private static final class Shared extends SigningKey {
    private final SecretKeySpec key;

    Shared(byte[] secret) {
      this.key = new SecretKeySpec(secret, "HmacSHA256");
    }

    @Override
    String version() {
      return "v1";
    }

    @Override
    byte[] raw(byte[] head, byte[] body) throws GeneralSecurityException {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(key);
      mac.update(head);
      return mac.doFinal(body);
    }
  }

  private static final class Ed25519 extends SigningKey {
    private final PrivateKey key;

    Ed25519(byte[] seed) {
      try {
        this.key =
            KeyFactory.getInstance("Ed25519")
                .generatePrivate(new EdECPrivateKeySpec(NamedParameterSpec.ED25519, seed));
      } catch (GeneralSecurityException e) {
        throw new PostriderException("this Java has no Ed25519", e);
      }
    }

    @Override
    String version() {
      return "v1a";
    }

    @Override
    byte[] raw(byte[] head, byte[] body) throws GeneralSecurityException {
      Signature signature = Signature.getInstance("Ed25519");
      signature.initSign(key);
      signature.update(head);
      signature.update(body);
      return signature.sign();
    }
  }
}
