package dev.postrider.archive.s3;

import java.time.Duration;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/** Makes the SDK's client such that stores other than Amazon's understand it. */
final class Clients {
  /** What the pauses between attempts may add. */
  private static final Duration PAUSES = Duration.ofMinutes(5);

  private Clients() {}

  /**
   * Checksums stand in headers. By default the SDK sends them behind the body (aws-chunked), which
   * some stores refuse.
   */
  static S3Client client(S3Config config) {
    S3ClientBuilder builder =
        S3Client.builder()
            .httpClientBuilder(
                UrlConnectionHttpClient.builder()
                    .connectionTimeout(config.connectTimeout)
                    .socketTimeout(config.readTimeout))
            .overrideConfiguration(limits(config))
            .credentialsProvider(credentials(config))
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .forcePathStyle(config.pathStyle)
            .serviceConfiguration(service -> service.chunkedEncodingEnabled(false));
    if (config.endpoint != null) {
      builder.endpointOverride(config.endpoint);
    }
    if (config.region != null) {
      builder.region(Region.of(config.region));
    } else if (config.endpoint != null) {
      builder.region(Region.US_EAST_1);
    }
    return builder.build();
  }

  private static ClientOverrideConfiguration limits(S3Config config) {
    return ClientOverrideConfiguration.builder()
        .apiCallAttemptTimeout(config.uploadTimeout)
        .apiCallTimeout(config.uploadTimeout.multipliedBy(config.attempts).plus(PAUSES))
        .retryStrategy(
            AwsRetryStrategy.standardRetryStrategy().toBuilder()
                .maxAttempts(config.attempts)
                .build())
        .build();
  }

  private static AwsCredentialsProvider credentials(S3Config config) {
    return config.accessKey != null && config.secretKey != null
        ? StaticCredentialsProvider.create(
            AwsBasicCredentials.create(config.accessKey, config.secretKey))
        : DefaultCredentialsProvider.builder().build();
  }
}
