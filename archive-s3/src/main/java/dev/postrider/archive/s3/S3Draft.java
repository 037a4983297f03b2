package dev.postrider.archive.s3;

import dev.postrider.archive.ArchiveStorage;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HexFormat;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * A file that stays on this machine until it is uploaded: its name and checksum are known only at
 * its end. Not thread-safe.
 */
final class S3Draft implements ArchiveStorage.Draft {
  private final S3Config config;
  private final S3Objects objects;
  private final TemporaryFile file;
  private final OutputStream content;

  S3Draft(S3Client client, S3Config config) throws IOException {
    this.config = config;
    this.objects = new S3Objects(client, config);
    this.file = new TemporaryFile(config.temporaryDirectory);
    this.content = new BufferedOutputStream(file.output(), 1 << 16);
  }

  @Override
  public OutputStream content() {
    return content;
  }

  @Override
  public void publish(String name, long bytes, String sha256) throws IOException {
    S3Objects.Contents contents = new S3Objects.Contents(bytes, HexFormat.of().parseHex(sha256));
    String key = config.prefix + name;
    try {
      objects.upload(key, contents, file);
      objects.verify(key, contents);
    } catch (SdkException e) {
      throw new S3Errors(config).explain(e);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
