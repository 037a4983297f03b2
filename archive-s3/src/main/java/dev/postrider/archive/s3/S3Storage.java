package dev.postrider.archive.s3;

import dev.postrider.archive.ArchiveStorage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * A bucket, or the part of it under a prefix. Each file is one object, uploaded in one request with
 * its SHA-256 and compared with what the store has before it counts as published. Needs the
 * permissions {@code s3:PutObject} and {@code s3:GetObject}. An interrupt ends an upload when the
 * request has been silent for the read timeout or has used up the upload timeout. Thread-safe.
 */
public final class S3Storage implements ArchiveStorage {
  private static final String PROBE = "postrider-write-check";
  private static final int FORBIDDEN = 403;

  private final S3Config config;
  private final S3Client client;

  /** Connects when the first file is written. */
  public S3Storage(S3Config config) throws IOException {
    this.config = config;
    try {
      this.client = Clients.client(config);
    } catch (SdkException e) {
      throw new S3Errors(config).explain(e);
    }
  }

  /** There is nothing to prepare: drafts are files that vanish with their process. */
  @Override
  public void prepare() {}

  @Override
  public Draft start() throws IOException {
    return new S3Draft(client, config);
  }

  /** Writes a small object and removes it, if it may. */
  @Override
  public void check() throws IOException {
    String key = config.prefix + PROBE;
    try {
      client.putObject(
          request -> request.bucket(config.bucket).key(key),
          RequestBody.fromBytes("Written by postrider doctor.".getBytes(StandardCharsets.UTF_8)));
      delete(key);
    } catch (SdkException e) {
      throw new S3Errors(config).explain(e);
    }
  }

  /** Archiving does without the permission to delete, so the check does too. */
  private void delete(String key) {
    try {
      client.deleteObject(request -> request.bucket(config.bucket).key(key));
    } catch (S3Exception e) {
      if (e.statusCode() != FORBIDDEN) {
        throw e;
      }
    }
  }

  @Override
  public String location() {
    return config.location();
  }

  @Override
  public void close() {
    client.close();
  }
}
