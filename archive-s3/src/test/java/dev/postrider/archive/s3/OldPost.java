package dev.postrider.archive.s3;

import dev.postrider.archive.ArchiveConfig;
import dev.postrider.archive.ArchiveStorage;
import dev.postrider.internal.archive.Archive;
import dev.postrider.internal.archive.ArchiveFile;
import dev.postrider.internal.archive.ArchiveReport;
import dev.postrider.schema.Schema;
import dev.postrider.testkit.TestPostgres;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/** A database with delivered messages of ninety days ago. */
final class OldPost {
  static final int MESSAGES = 5000;
  static final int PER_FILE = 2000;

  private static final TestPostgres SERVER = TestPostgres.start();
  private static final AtomicInteger COUNTER = new AtomicInteger();
  private static final Pattern ID = Pattern.compile("^\\{\"id\" ?: ?\"([0-9a-f-]{36})\"");

  final TestPostgres database = SERVER.another("old_" + COUNTER.incrementAndGet());
  private final List<String> ids;

  /** The payloads do not compress well, so that an upload takes some packets. */
  OldPost() {
    database.execute(
        """
        select postrider.intern_route('shop', 'orders');
        insert into postrider.message (id, created_at, route, is_json, payload)
        select overlay(postrider.id_floor(now() - interval '90 days')::text placing lpad(i::text, 12, '0')
                 from 25 for 12)::uuid,
               now() - interval '90 days', 1, true,
               convert_to('{"n": "' || md5(i::text) || md5(i || 'a') || md5(i || 'b') || '"}', 'UTF8')
          from generate_series(1, %d) i
        """
            .formatted(MESSAGES));
    ids = logged();
  }

  ArchiveReport archive(ArchiveStorage storage) throws Exception {
    return archiveTo(storage).run("ann", report -> true);
  }

  /** The same with a storage of its own. */
  ArchiveReport archive(S3Config.Builder config) throws Exception {
    try (S3Storage storage = new S3Storage(config.build())) {
      return archive(storage);
    }
  }

  private Archive archiveTo(ArchiveStorage storage) {
    ArchiveConfig config = new ArchiveConfig(Duration.ofDays(30), PER_FILE);
    return new Archive(database.dataSource(), Schema.DEFAULT, config, storage);
  }

  List<ArchiveFile> files(ArchiveStorage storage) throws Exception {
    return archiveTo(storage).files(null, 100);
  }

  List<String> logged() {
    return database.column("select id from postrider.message order by id");
  }

  List<String> all() {
    return ids;
  }

  /** The ids of the messages in these files, in order. */
  static List<String> idsIn(Collection<byte[]> files) throws IOException {
    List<String> ids = new ArrayList<>();
    for (byte[] file : files) {
      try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(file))) {
        new String(in.readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .map(OldPost::id)
            .forEach(ids::add);
      }
    }
    return ids.stream().sorted().toList();
  }

  private static String id(String line) {
    Matcher id = ID.matcher(line);
    if (!id.find()) {
      throw new IllegalArgumentException(line);
    }
    return id.group(1);
  }
}
