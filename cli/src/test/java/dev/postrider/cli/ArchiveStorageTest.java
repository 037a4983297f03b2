package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The executable archives to a real S3 server. */
@Tag("OP-8")
class ArchiveStorageTest {
  private static final String SECRET = "s3cret/+key";

  @TempDir Path folder;
  private final BlobStore store = new TransientNio2BlobStore();
  private S3Proxy server;
  private Desk desk;

  @BeforeEach
  void start() throws Exception {
    server =
        S3Proxy.builder()
            .blobStore(store)
            .endpoint(URI.create("http://127.0.0.1:0"))
            .awsAuthentication(AuthenticationType.AWS_V4, "AKIAOUTBOX", SECRET)
            .stopTimeout(0)
            .build();
    server.start();
    store.createContainer("outbox-archive");
    desk = Desk.bare(folder);
    desk.run("migrate", "--roles").ok();
    desk.execute(
        """
        select postrider.intern_route('shop', 'orders');
        insert into postrider.message (id, created_at, route, payload)
        select overlay(postrider.id_floor(now() - interval '90 days')::text placing lpad(i::text, 12, '0')
                 from 25 for 12)::uuid, now() - interval '90 days', 1, '{}' from generate_series(1, 30) i
        """);
  }

  @AfterEach
  void stop() throws Exception {
    server.stop();
    store.close();
  }

  private void configure(String bucket) throws Exception {
    Files.writeString(
        folder.resolve("postrider.yaml"),
        """
        postrider:
          archive:
            storage: s3
            s3:
              bucket: %s
              prefix: shop
              endpoint: http://127.0.0.1:%d
              access-key: AKIAOUTBOX
        """
            .formatted(bucket, server.getPort()));
  }

  private Executable with(String secret) {
    return desk.postrider.with("POSTRIDER_ARCHIVE_S3_SECRET_KEY", secret);
  }

  private int objects() {
    return store.list("outbox-archive").contents().size();
  }

  @Test
  void archiveWritesToTheBucket() throws Exception {
    configure("outbox-archive");
    assertThat(with(SECRET).run("archive", "--yes", "--json").json()).containsEntry("archived", 30);
    assertThat(desk.value("select count(*) from postrider.message")).isEqualTo("0");
    assertThat(desk.value("select location from postrider.archive_file"))
        .isEqualTo("s3://outbox-archive/shop/");
    assertThat(objects()).isEqualTo(1);
  }

  @Test
  void aDirectoryGivenByFlagBeatsTheBucket() throws Exception {
    configure("outbox-archive");
    with(SECRET).run("archive", "--yes", "--directory", "old").ok();
    assertThat(objects()).isZero();
    assertThat(folder.resolve("old")).isNotEmptyDirectory();
  }

  @Test
  void whatIsWrongIsSaidAndNothingIsRemoved() throws Exception {
    configure("outbox-archive");
    with("wrong").run("archive", "--yes").failed(1, "SignatureDoesNotMatch", "secret key");
    configure("elsewhere");
    with(SECRET).run("archive", "--yes").failed(1, "NoSuchBucket", "elsewhere");
    assertThat(desk.value("select count(*) from postrider.message")).isEqualTo("30");
  }

  @Test
  void theDoctorTriesAStorageThatIsConfigured() throws Exception {
    assertThat(desk.run("doctor").ok()).doesNotContain("archive");
    configure("outbox-archive");
    assertThat(with(SECRET).run("doctor").ok())
        .containsPattern("ok +archive +s3://outbox-archive/shop/ can be written");
    configure("elsewhere");
    Executable.Result sick = with(SECRET).run("doctor");
    assertThat(sick.exitCode()).isEqualTo(1);
    assertThat(sick.out()).containsPattern("trouble +archive +cannot write to .*NoSuchBucket");
    Files.createFile(folder.resolve("file"));
    String[] directory = {
      "doctor", "--set", "archive.storage=directory", "--set", "archive.directory=file/archive"
    };
    assertThat(with(SECRET).run(directory).out())
        .containsPattern("trouble +archive +cannot write .*file is not a directory");
  }

  @Test
  void theSecretIsNotShown() throws Exception {
    configure("outbox-archive");
    assertThat(with(SECRET).run("config").ok())
        .containsPattern("archive\\.s3\\.secret-key +\\*{8}")
        .doesNotContain(SECRET);
  }
}
