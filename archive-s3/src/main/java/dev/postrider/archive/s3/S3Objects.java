package dev.postrider.archive.s3;

import dev.postrider.archive.ArchiveStorageException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Writes objects that are not there yet, and compares what the store has. Thread-safe. */
final class S3Objects {
  private static final int PRECONDITION_FAILED = 412;
  private static final int NOT_IMPLEMENTED = 501;

  private final S3Client client;
  private final S3Config config;

  S3Objects(S3Client client, S3Config config) {
    this.client = client;
    this.config = config;
  }

  /** What an object must hold. */
  record Contents(long bytes, byte[] sha256) {}

  /** Creates the object. Leaves one that exists as it is; {@link #verify} compares it. */
  void upload(String key, Contents contents, TemporaryFile file) {
    try {
      put(request(key, contents).ifNoneMatch("*").build(), contents, file);
    } catch (S3Exception e) {
      if (e.statusCode() == NOT_IMPLEMENTED && !exists(key)) {
        put(request(key, contents).build(), contents, file);
      } else if (e.statusCode() != PRECONDITION_FAILED && e.statusCode() != NOT_IMPLEMENTED) {
        throw e;
      }
    }
  }

  private PutObjectRequest.Builder request(String key, Contents contents) {
    PutObjectRequest.Builder request =
        PutObjectRequest.builder()
            .bucket(config.bucket)
            .key(key)
            .contentType("application/gzip")
            .checksumSHA256(Base64.getEncoder().encodeToString(contents.sha256));
    return config.storageClass == null ? request : request.storageClass(config.storageClass);
  }

  private void put(PutObjectRequest request, Contents contents, TemporaryFile file) {
    client.putObject(
        request, RequestBody.fromContentProvider(file::input, contents.bytes, "application/gzip"));
  }

  private boolean exists(String key) {
    try {
      head(key);
      return true;
    } catch (NoSuchKeyException e) {
      return false;
    }
  }

  private HeadObjectResponse head(String key) {
    return client.headObject(
        request -> request.bucket(config.bucket).key(key).checksumMode(ChecksumMode.ENABLED));
  }

  /**
   * Fails unless the store has these contents. Reads them if the store does not know a checksum.
   */
  void verify(String key, Contents contents) throws IOException {
    HeadObjectResponse head = head(key);
    byte @Nullable [] stored = decoded(head.checksumSHA256());
    if (head.contentLength() != contents.bytes
        || !Arrays.equals(stored == null ? digest(key) : stored, contents.sha256)) {
      throw new ArchiveStorageException(
          ("the object %s in bucket %s has other contents than expected (%,d bytes, expected %,d);"
                  + " nothing was overwritten. Move it away, then archive again")
              .formatted(key, config.bucket, head.contentLength(), contents.bytes),
          null);
    }
  }

  /** Null if it is not of the whole object, as after a multipart copy. */
  private static byte @Nullable [] decoded(@Nullable String checksum) {
    return checksum == null || checksum.contains("-") ? null : Base64.getDecoder().decode(checksum);
  }

  private byte[] digest(String key) throws IOException {
    MessageDigest digest = sha256();
    try (InputStream in = client.getObject(request -> request.bucket(config.bucket).key(key))) {
      new DigestInputStream(in, digest).transferTo(OutputStream.nullOutputStream());
    }
    return digest.digest();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
