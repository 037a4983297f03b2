package dev.postrider.archive.s3;

import dev.postrider.archive.ArchiveStorageException;
import java.io.IOException;
import java.io.InterruptedIOException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;

/** Says what went wrong with a bucket, and what to do. Thread-safe. */
final class S3Errors {
  private final S3Config config;

  S3Errors(S3Config config) {
    this.config = config;
  }

  IOException explain(SdkException error) {
    if (error instanceof AbortedException) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted =
          new InterruptedIOException("interrupted while writing to " + config);
      interrupted.initCause(error);
      return interrupted;
    }
    return new ArchiveStorageException("cannot write to " + config + ": " + reason(error), error);
  }

  private String reason(SdkException error) {
    if (error instanceof AwsServiceException service) {
      return answered(service);
    } else if (error instanceof ApiCallAttemptTimeoutException
        || error instanceof ApiCallTimeoutException) {
      return "timed out after "
          + config.uploadTimeout
          + "; check the network or raise the upload timeout";
    }
    String text = text(error);
    if (text.contains("credentials")) {
      return "found no credentials; give an access key and a secret key, or those of the AWS chain"
          + " (environment, profile, container, instance). "
          + text;
    } else if (text.contains("region")) {
      return "the region is not known; give it. " + text;
    }
    return text + "; check the endpoint and the network";
  }

  private String answered(AwsServiceException error) {
    @Nullable String code =
        error.awsErrorDetails() == null ? null : error.awsErrorDetails().errorCode();
    String answer = "the store answered %d %s".formatted(error.statusCode(), code);
    return answer
        + switch (code == null ? "" : code) {
          case "NoSuchBucket" -> "; create the bucket \"" + config.bucket + "\" or name another";
          case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken" ->
              "; check the access key and the secret key";
          case "AccessDenied", "Forbidden" ->
              "; the credentials need s3:PutObject and s3:GetObject on " + config.location() + "*";
          case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraint" ->
              "; the bucket is in another region: give that region";
          case "RequestTimeTooSkewed" -> "; set this machine's clock";
          default -> ": " + text(error);
        };
  }

  private static String text(Throwable error) {
    return error.getMessage() == null ? error.toString() : error.getMessage();
  }
}
