package dev.postrider.spring;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.ArchiveStorage;
import dev.postrider.archive.DirectoryStorage;
import dev.postrider.archive.s3.S3Config;
import dev.postrider.archive.s3.S3Storage;
import dev.postrider.message.PostriderException;
import dev.postrider.retention.RetentionConfig;
import java.nio.file.Path;
import java.util.Objects;
import org.springframework.util.ClassUtils;

/** Adds the archive of the properties to the retention. */
final class Archives {
  private static final String KEY = "postrider.archive";

  private Archives() {}

  static RetentionConfig with(RetentionConfig retention, ArchiveProperties settings) {
    if (settings.storage() == null && settings.s3().bucket() != null) {
      throw new StartException(
          KEY + ".s3.bucket is given, but no storage.", "Set " + KEY + ".storage=s3.");
    }
    if (!settings.configured() || retention.equals(RetentionConfig.off())) {
      return retention;
    }
    try {
      return retention.withArchive(ArchiveConfig.of(settings.retention()), storage(settings));
    } catch (StartException e) {
      throw e;
    } catch (PostriderException e) {
      throw new StartException(
          String.valueOf(e.getMessage()), "Correct the settings under " + KEY + ".", e);
    }
  }

  private static ArchiveStorage.Opener storage(ArchiveProperties settings) {
    if (settings.storage() != ArchiveProperties.Storage.S3) {
      Path directory = Path.of(Objects.requireNonNullElse(settings.directory(), "archive"));
      return () -> new DirectoryStorage(directory);
    }
    if (!ClassUtils.isPresent(
        "dev.postrider.archive.s3.S3Storage", Archives.class.getClassLoader())) {
      throw new StartException(
          KEY + ".storage is s3, but its module is not on the class path.",
          "Add the dependency dev.postrider:postrider-archive-s3, in the version of the starter.");
    }
    return S3Opener.opener(settings.s3());
  }

  /** Loaded only if the module for S3 is there. */
  private static final class S3Opener {
    static ArchiveStorage.Opener opener(ArchiveProperties.S3 settings) {
      S3Config config = config(settings);
      return () -> new S3Storage(config);
    }

    private static S3Config config(ArchiveProperties.S3 settings) {
      S3Config.Builder config =
          S3Config.bucket(Destinations.given(KEY + ".s3.bucket", settings.bucket(), "outbox"))
              .connectTimeout(settings.connectTimeout())
              .readTimeout(settings.readTimeout())
              .uploadTimeout(settings.uploadTimeout())
              .attempts(settings.attempts());
      if (settings.prefix() != null) {
        config.prefix(settings.prefix());
      }
      if (settings.region() != null) {
        config.region(settings.region());
      }
      if (settings.allowPlain()) {
        config.allowPlain();
      }
      if (settings.endpoint() != null) {
        config.endpoint(settings.endpoint());
      }
      config.pathStyle(
          Objects.requireNonNullElse(settings.pathStyle(), settings.endpoint() != null));
      if (settings.accessKey() != null || settings.secretKey() != null) {
        config.credentials(
            Destinations.given(KEY + ".s3.access-key", settings.accessKey(), "AKIA…"),
            Destinations.given(KEY + ".s3.secret-key", settings.secretKey(), "…"));
      }
      if (settings.storageClass() != null) {
        config.storageClass(settings.storageClass());
      }
      if (settings.temporaryDirectory() != null) {
        config.temporaryDirectory(Path.of(settings.temporaryDirectory()));
      }
      return config.build();
    }
  }
}
