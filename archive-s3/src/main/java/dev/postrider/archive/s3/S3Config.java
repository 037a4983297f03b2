package dev.postrider.archive.s3;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How to reach one bucket. Start with {@link #bucket}; everything else has a default. Immutable,
 * and never shows the secret key.
 */
public final class S3Config {
  final String bucket;
  final String prefix;
  final @Nullable String region;
  final @Nullable URI endpoint;
  final boolean pathStyle;
  final @Nullable String accessKey;
  final @Nullable String secretKey;
  final @Nullable String storageClass;
  final Duration connectTimeout;
  final Duration readTimeout;
  final Duration uploadTimeout;
  final int attempts;
  final Path temporaryDirectory;

  private S3Config(Builder builder) {
    this.bucket = builder.bucket;
    this.prefix =
        builder.prefix.isEmpty() || builder.prefix.endsWith("/")
            ? builder.prefix
            : builder.prefix + "/";
    this.region = builder.region;
    this.endpoint = builder.endpoint == null ? null : URI.create(builder.endpoint);
    this.pathStyle = builder.pathStyle == null ? endpoint != null : builder.pathStyle;
    this.accessKey = builder.accessKey;
    this.secretKey = builder.secretKey;
    this.storageClass = builder.storageClass;
    this.connectTimeout = builder.connectTimeout;
    this.readTimeout = builder.readTimeout;
    this.uploadTimeout = builder.uploadTimeout;
    this.attempts = builder.attempts;
    this.temporaryDirectory = builder.temporaryDirectory;
  }

  /** Starts with the name of the bucket. It must exist. */
  public static Builder bucket(String name) {
    return new Builder(name);
  }

  /** The URL of the files, as {@code s3://bucket/prefix/}. */
  String location() {
    return "s3://" + bucket + "/" + prefix;
  }

  @Override
  public String toString() {
    return location() + (endpoint == null ? "" : " at " + endpoint);
  }

  /** Collects the settings. Not thread-safe. */
  public static final class Builder {
    final String bucket;
    String prefix = "";
    @Nullable String region;
    @Nullable String endpoint;
    @Nullable Boolean pathStyle;
    boolean allowPlain;
    @Nullable String accessKey;
    @Nullable String secretKey;
    @Nullable String storageClass;
    Duration connectTimeout = Duration.ofSeconds(5);
    Duration readTimeout = Duration.ofSeconds(30);
    Duration uploadTimeout = Duration.ofMinutes(15);
    int attempts = 4;
    Path temporaryDirectory = Path.of(System.getProperty("java.io.tmpdir"));

    private Builder(String bucket) {
      this.bucket = bucket;
    }

    /** What the names of objects start with, such as {@code outbox/shop}. Default: nothing. */
    public Builder prefix(String value) {
      prefix = value;
      return this;
    }

    /**
     * The bucket's region. Default: with an endpoint {@code us-east-1}, which most other stores
     * expect; without one, what AWS_REGION, the AWS profile or the machine says.
     */
    public Builder region(String value) {
      region = value;
      return this;
    }

    /** The URL of a store other than Amazon S3, without the bucket. Default: Amazon S3. */
    public Builder endpoint(String url) {
      endpoint = url;
      return this;
    }

    /**
     * Whether the bucket is in the path of URLs instead of the host name. Default: true with an
     * endpoint, else false.
     */
    public Builder pathStyle(boolean value) {
      pathStyle = value;
      return this;
    }

    /** Allows an endpoint with http that is not on this machine. Messages travel unencrypted. */
    public Builder allowPlain() {
      allowPlain = true;
      return this;
    }

    /**
     * Default: the AWS SDK's chain of environment, system properties, web identity, profile,
     * container and instance.
     */
    public Builder credentials(String accessKeyId, String secretAccessKey) {
      accessKey = accessKeyId;
      secretKey = secretAccessKey;
      return this;
    }

    /** Such as {@code STANDARD_IA}. Default: the bucket's. */
    public Builder storageClass(String value) {
      storageClass = value;
      return this;
    }

    /** For connecting. Default: 5 s. */
    public Builder connectTimeout(Duration value) {
      connectTimeout = value;
      return this;
    }

    /** For the longest silence while an answer is awaited. Default: 30 s. */
    public Builder readTimeout(Duration value) {
      readTimeout = value;
      return this;
    }

    /** For one attempt to upload a file. Default: 15 min. */
    public Builder uploadTimeout(Duration value) {
      uploadTimeout = value;
      return this;
    }

    /** How often a request is sent at most when it fails for a passing reason. Default: 4. */
    public Builder attempts(int value) {
      attempts = value;
      return this;
    }

    /**
     * Where a file is kept until it is uploaded. Needs room for one compressed file. Default:
     * Java's directory for temporary files.
     */
    public Builder temporaryDirectory(Path value) {
      temporaryDirectory = value;
      return this;
    }

    /**
     * Checks everything and reports all violations together.
     *
     * @throws dev.postrider.error.RefusedException if there are any
     */
    public S3Config build() {
      S3Checks.check(this);
      return new S3Config(this);
    }
  }
}
