package dev.postrider.archive.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.archive.ArchiveStorage;
import dev.postrider.archive.ArchiveStorageException;
import dev.postrider.internal.archive.ArchiveFile;
import dev.postrider.internal.archive.ArchiveReport;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Runs of the archive against a real S3 server, over a network with faults. */
@Tag("HE-11")
@Tag("OP-8")
class S3ArchiveTest {
  private static final String BUCKET = "outbox-archive";

  @TempDir private Path temporary = Path.of("");
  private final OldPost post = new OldPost();
  private S3Server server;
  private Wire wire;

  @BeforeEach
  void start() throws Exception {
    connect(S3Server.start());
  }

  private void connect(S3Server to) throws Exception {
    server = to;
    server.create(BUCKET);
    wire = new Wire(server.port());
  }

  @AfterEach
  void stop() throws Exception {
    wire.close();
    server.close();
  }

  private S3Config.Builder config() {
    return config(BUCKET);
  }

  private S3Config.Builder config(String bucket) {
    return S3Config.bucket(bucket)
        .endpoint(wire.url())
        .credentials(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)
        .temporaryDirectory(temporary);
  }

  private void nothingHappened() {
    assertThat(post.logged()).isEqualTo(post.all());
    assertThat(post.database.count("select count(*) from postrider.archive_file")).isZero();
    assertThat(temporary).isEmptyDirectory();
  }

  private void failsWith(S3Config.Builder config, String... texts) {
    assertThatThrownBy(() -> post.archive(config))
        .isInstanceOf(ArchiveStorageException.class)
        .hasMessageContainingAll(texts)
        .message()
        .doesNotContain(S3Server.SECRET_KEY);
    nothingHappened();
  }

  /** Nothing of what went wrong before stands in the way. */
  private void completes(S3Config.Builder config) throws Exception {
    assertThat(post.archive(config).removed()).isEqualTo(OldPost.MESSAGES);
    assertThat(post.logged()).isEmpty();
    assertThat(OldPost.idsIn(server.objects(BUCKET).values())).isEqualTo(post.all());
    assertThat(temporary).isEmptyDirectory();
  }

  @Test
  void thousandsOfMessagesGoToObjectsWithTheirRecordedChecksums() throws Exception {
    try (S3Storage storage = new S3Storage(config().prefix("shop/2026").build())) {
      ArchiveReport report = post.archive(storage);

      assertThat(report.archived()).isEqualTo(OldPost.MESSAGES);
      assertThat(post.logged()).isEmpty();
      Map<String, byte[]> objects = server.objects(BUCKET);
      assertThat(OldPost.idsIn(objects.values())).isEqualTo(post.all());
      assertThat(post.files(storage)).hasSize(3);
      for (ArchiveFile file : post.files(storage)) {
        byte[] object = objects.get("shop/2026/" + file.name());
        assertThat(object).hasSize((int) file.bytes());
        assertThat(sha256(object)).isEqualTo(file.sha256());
        assertThat(file.location()).isEqualTo("s3://outbox-archive/shop/2026/");
      }
    }
  }

  private static String sha256(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  @Test
  void wrongCredentialsAreNamed() throws Exception {
    failsWith(
        config().credentials(S3Server.ACCESS_KEY, "wrong"), "403 SignatureDoesNotMatch", "secret");
    failsWith(config().credentials("AKIANOBODY", "wrong"), "403", "s3://outbox-archive/");
    completes(config());
  }

  @Test
  void aMissingBucketIsNamed() throws Exception {
    failsWith(
        config("outbox-archives"), "404 NoSuchBucket", "create the bucket", "outbox-archives");
    completes(config());
  }

  @Test
  void anEndpointThatCannotBeReachedIsNamed() throws Exception {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }
    String nowhere = "http://127.0.0.1:" + free;
    failsWith(config().endpoint(nowhere).attempts(2), nowhere, "Connection refused", "endpoint");
    completes(config());
  }

  @Test
  void anUploadThatIsCutIsTriedAgain() throws Exception {
    wire.cuts.set(2);
    completes(config());
    assertThat(wire.cuts).hasValue(0);
  }

  @Test
  void anUploadThatIsCutEveryTimeLeavesEverythingAsItWas() throws Exception {
    wire.cuts.set(Integer.MAX_VALUE);
    failsWith(config().attempts(2), wire.url());
    assertThat(puts()).isEqualTo(2);
    assertThat(server.objects(BUCKET)).isEmpty();
    wire.cuts.set(0);
    completes(config());
  }

  private long puts() {
    return wire.heads.stream().filter(head -> head.startsWith("PUT ")).count();
  }

  @Test
  void anUploadThatStallsEnds() throws Exception {
    wire.stalls = true;
    failsWith(config().attempts(2).uploadTimeout(Duration.ofSeconds(1)), "timed out");
    wire.stalls = false;
    completes(config());
  }

  /** Larger than the buffers on the way, so that the sender waits in the middle of the body. */
  @Test
  void aLargeUploadThatStallsEnds() throws Exception {
    wire.stalls = true;
    byte[] block = new byte[1 << 20];
    S3Config config = config().attempts(2).uploadTimeout(Duration.ofSeconds(1)).build();
    try (S3Storage storage = new S3Storage(config);
        ArchiveStorage.Draft draft = storage.start()) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (int i = 0; i < 32; i++) {
        draft.content().write(block);
        digest.update(block);
      }
      draft.content().close();
      String sha256 = HexFormat.of().formatHex(digest.digest());
      assertThatThrownBy(() -> draft.publish("large", 32L << 20, sha256))
          .isInstanceOf(ArchiveStorageException.class)
          .hasMessageContaining("timed out");
    }
    assertThat(server.objects(BUCKET)).isEmpty();
  }

  @Test
  void anInterruptEndsAnUpload() throws Exception {
    wire.stalls = true;
    Thread archiver = Thread.currentThread();
    Thread interrupter =
        new Thread(
            () -> {
              Awaitility.await().until(() -> puts() > 0);
              archiver.interrupt();
            });
    interrupter.start();
    S3Config.Builder config = config().readTimeout(Duration.ofSeconds(1));
    assertThatThrownBy(() -> post.archive(config)).isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
    interrupter.join();
    nothingHappened();
    wire.stalls = false;
    completes(config());
  }

  @Test
  void aByteThatIsChangedOnTheWayIsNoticedByTheStore() throws Exception {
    wire.damages = true;
    failsWith(config().attempts(1), "the store answered 400");
    assertThat(server.objects(BUCKET)).isEmpty();
    wire.damages = false;
    completes(config());
  }

  @Test
  void aByteThatIsChangedOnTheWayIsNoticedWithoutTheStoresHelp() throws Exception {
    stop();
    connect(S3Server.startOpen());
    wire.dropped = Pattern.compile("(?im)^x-amz-(checksum|content-sha256)[^\r]*\r\n");
    wire.damages = true;
    failsWith(config(), "has other contents than expected");
    wire.damages = false;
    String damaged = server.objects(BUCKET).firstKey();
    failsWith(config(), damaged, "nothing was overwritten");
    server.delete(BUCKET, damaged);
    completes(config());
  }

  @Test
  void anObjectWithOtherContentsIsNotOverwritten() throws Exception {
    SortedMap<String, byte[]> objects = firstObject();
    byte[] other = "other".getBytes(StandardCharsets.UTF_8);
    server.put(BUCKET, objects.firstKey(), other);
    failsWith(config(), objects.firstKey(), "nothing was overwritten");
    assertThat(server.objects(BUCKET)).containsEntry(objects.firstKey(), other);
    server.put(BUCKET, objects.firstKey(), objects.get(objects.firstKey()));
    completes(config());
  }

  /** Uploads the first file and crashes before the database knows. */
  private SortedMap<String, byte[]> firstObject() throws Exception {
    try (S3Storage storage = new S3Storage(config().build())) {
      assertThatThrownBy(() -> post.archive(new Crashing(storage))).hasMessage("crashed");
    }
    nothingHappened();
    assertThat(server.objects(BUCKET)).hasSize(1);
    return server.objects(BUCKET);
  }

  @Test
  void aCrashAfterTheUploadLosesAndDoublesNothing() throws Exception {
    firstObject();
    completes(config());
    assertThat(server.objects(BUCKET)).hasSize(3);
  }

  @Test
  void storesThatRefuseChunksAndTrailersAreServed() throws Exception {
    wire.refused =
        Pattern.compile("(?im)^(x-amz-trailer|transfer-encoding|content-encoding|x-amz-decoded)")
            .asPredicate();
    try (S3Client usual = usualClient()) {
      assertThatThrownBy(
              () -> usual.putObject(r -> r.bucket(BUCKET).key("k"), RequestBody.fromString("x")))
          .isInstanceOf(S3Exception.class)
          .hasMessageContaining("not implemented");
    }
    completes(config());
    assertThat(wire.heads)
        .filteredOn(head -> head.startsWith("PUT /outbox-archive/message"))
        .hasSize(3)
        .allMatch(head -> head.contains("x-amz-checksum-sha256: "))
        .allMatch(head -> Pattern.compile("(?i)content-length: \\d").matcher(head).find());
  }

  private S3Client usualClient() {
    return S3Client.builder()
        .endpointOverride(URI.create(wire.url()))
        .forcePathStyle(true)
        .region(Region.US_EAST_1)
        .httpClientBuilder(UrlConnectionHttpClient.builder())
        .overrideConfiguration(o -> o.retryStrategy(r -> r.maxAttempts(1)))
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsBasicCredentials.create(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)))
        .build();
  }

  @Test
  void storesWithoutConditionalWritesAreServedAndNothingIsOverwritten() throws Exception {
    wire.refused = Pattern.compile("(?im)^if-none-match").asPredicate();
    SortedMap<String, byte[]> objects = firstObject();
    byte[] other = "other".getBytes(StandardCharsets.UTF_8);
    server.put(BUCKET, objects.firstKey(), other);
    failsWith(config().attempts(1), "nothing was overwritten");
    server.put(BUCKET, objects.firstKey(), objects.get(objects.firstKey()));
    completes(config().attempts(1));
  }

  @ParameterizedTest
  @CsvSource({
    "My_Bucket.1, Ünï code/+ %20&=?#'()*~!@:;$,/x",
    "a-1.b-2.c-3, ' leading and trailing '",
    "outbox.archive, %2F..%2F/…/\\"
  })
  void bucketsAndPrefixesMayHaveOddCharacters(String bucket, String prefix) throws Exception {
    server.create(bucket);
    post.archive(config(bucket).prefix(prefix));
    assertThat(post.logged()).isEmpty();
    assertThat(OldPost.idsIn(server.objects(bucket).values())).isEqualTo(post.all());
    assertThat(server.objects(bucket).keySet())
        .allMatch(key -> key.startsWith(prefix + "/message"));
  }

  @Test
  void theStorageClassIsAskedFor() throws Exception {
    completes(config().storageClass("STANDARD_IA"));
    assertThat(wire.heads).anyMatch(head -> head.contains("x-amz-storage-class: STANDARD_IA"));
  }

  @Test
  void theCheckWritesAndLeavesNothing() throws Exception {
    try (S3Storage storage = new S3Storage(config().build());
        S3Storage wrong = new S3Storage(config("nobodys").build())) {
      storage.check();
      assertThat(puts()).isEqualTo(1);
      assertThat(server.objects(BUCKET)).isEmpty();
      assertThatThrownBy(wrong::check).hasMessageContaining("NoSuchBucket");
    }
  }

  @Test
  void aTemporaryDirectoryThatCannotBeUsedIsAnError() throws Exception {
    Path file = Files.createFile(temporary.resolve("file"));
    assertThatThrownBy(() -> post.archive(config().temporaryDirectory(file)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file.toString());
    Files.delete(file);
    completes(config());
  }

  /** Its process dies when a file was published. */
  private record Crashing(ArchiveStorage storage) implements ArchiveStorage {
    @Override
    public void prepare() throws IOException {
      storage.prepare();
    }

    @Override
    public Draft start() throws IOException {
      Draft draft = storage.start();
      return new Draft() {
        @Override
        public OutputStream content() {
          return draft.content();
        }

        @Override
        public void publish(String name, long bytes, String sha256) throws IOException {
          draft.publish(name, bytes, sha256);
          throw new IllegalStateException("crashed");
        }

        @Override
        public void close() throws IOException {
          draft.close();
        }
      };
    }

    @Override
    public void check() throws IOException {
      storage.check();
    }

    @Override
    public String location() {
      return storage.location();
    }
  }
}
