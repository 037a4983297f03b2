package dev.postrider.spring;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where relays archive old messages before they remove them. Without storage and directory they
 * remove them without an archive. Immutable.
 *
 * @param storage Kind of storage. Default directory.
 * @param directory With the storage directory: where the files go; for one database only.
 * @param retention Age from which delivered messages are archived.
 * @param s3 With the storage s3: the bucket.
 */
public record ArchiveProperties(
    @Nullable Storage storage,
    @Nullable String directory,
    @DefaultValue("60d") Duration retention,
    @DefaultValue S3 s3) {

  /** Kinds of storage. */
  public enum Storage {
    /** Files in a directory. */
    DIRECTORY,
    /** Amazon S3, or another store with its protocol. */
    S3
  }

  /**
   * A bucket. Its module is postrider-archive-s3.
   *
   * @param bucket Name of the bucket, which must exist.
   * @param prefix Prefix of object names.
   * @param region Region. By default from the environment, the AWS profile or the machine.
   * @param endpoint URL of another store than Amazon S3.
   * @param allowPlain Whether the endpoint may have http if it is not on this machine.
   * @param pathStyle Whether the bucket is in the path of URLs. Default true with an endpoint.
   * @param accessKey Access key. Without it the AWS chain is used.
   * @param secretKey Secret key.
   * @param storageClass Storage class, such as STANDARD_IA.
   * @param connectTimeout Time for connecting.
   * @param readTimeout Longest silence while waiting for an answer.
   * @param uploadTimeout Time for one attempt to upload a file.
   * @param attempts Attempts for each request.
   * @param temporaryDirectory Where files are written before they are uploaded.
   */
  public record S3(
      @Nullable String bucket,
      @Nullable String prefix,
      @Nullable String region,
      @Nullable String endpoint,
      @DefaultValue("false") boolean allowPlain,
      @Nullable Boolean pathStyle,
      @Nullable String accessKey,
      @Nullable String secretKey,
      @Nullable String storageClass,
      @DefaultValue("5s") Duration connectTimeout,
      @DefaultValue("30s") Duration readTimeout,
      @DefaultValue("15m") Duration uploadTimeout,
      @DefaultValue("4") int attempts,
      @Nullable String temporaryDirectory) {
    /** Shows no secrets. */
    @Override
    public String toString() {
      return "bucket " + bucket;
    }
  }

  /** Whether messages are archived at all. */
  boolean configured() {
    return storage != null || directory != null;
  }
}
