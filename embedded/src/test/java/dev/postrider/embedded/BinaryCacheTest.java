package dev.postrider.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/** What another user of the machine could have prepared is not run. */
class BinaryCacheTest {
  private static final int NOBODY = 65_534;

  @TempDir Path temp;
  private Path folder;
  private byte[] archive;

  @BeforeEach
  void setUp() throws IOException {
    folder = temp.resolve("caches/postrider");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (TarArchiveOutputStream tar =
        new TarArchiveOutputStream(new XZOutputStream(bytes, new LZMA2Options(0)))) {
      byte[] program = "the real one".getBytes(StandardCharsets.UTF_8);
      TarArchiveEntry entry = new TarArchiveEntry("bin/postgres");
      entry.setSize(program.length);
      entry.setMode(0755);
      tar.putArchiveEntry(entry);
      tar.write(program);
      tar.closeArchiveEntry();
    }
    archive = bytes.toByteArray();
  }

  private Path program() throws IOException {
    return new BinaryCache(folder).unpacked(archive).resolve("bin/postgres");
  }

  @Test
  void onlyItsOwnerCanEnterTheFolder() throws IOException {
    assertThat(program()).hasContent("the real one").isExecutable();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
        .isEqualTo("rwx------");
  }

  @Test
  void aFolderThatOthersMayWriteToIsRefused() throws IOException {
    Files.createDirectories(folder);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(this::program)
        .isInstanceOf(ForeignFileException.class)
        .hasMessageContaining("can be written by other users (mode rwxrwxrwx)");
  }

  @Test
  void aFolderOfAnotherUserIsRefused() throws IOException {
    Files.createDirectories(folder);
    giveAway(folder);
    assertThatThrownBy(this::program)
        .isInstanceOf(ForeignFileException.class)
        .hasMessageContaining("belongs to another user");
  }

  @Test
  void aLinkToAFolderOfAnotherUserIsRefused() throws IOException {
    Path planted = Files.createDirectory(temp.resolve("planted"));
    giveAway(planted);
    Files.createDirectories(folder.getParent());
    Files.createSymbolicLink(folder, planted);
    assertThatThrownBy(this::program).isInstanceOf(ForeignFileException.class);
  }

  @Test
  void aChangedMissingOrAddedFileIsRepaired() throws IOException {
    Path program = program();
    Files.writeString(program, "another one");
    assertThat(program()).hasContent("the real one").isExecutable();

    Files.delete(program);
    assertThat(program()).hasContent("the real one");

    Path added = Files.writeString(program.resolveSibling("libpq.so"), "added");
    assertThat(program()).hasContent("the real one");
    assertThat(added).doesNotExist();
  }

  @Test
  void aHalfUnpackedArchiveIsUnpackedAgain() throws IOException {
    Path program = program();
    Files.writeString(program, "the re");
    Files.delete(folder.resolve(program.getParent().getParent().getFileName() + ".sha256"));
    assertThat(program()).hasContent("the real one");
  }

  private static void giveAway(Path path) throws IOException {
    try {
      Files.setAttribute(path, "unix:uid", NOBODY);
    } catch (IOException e) {
      assumeTrue(false, "only root can give a folder to another user");
    }
  }
}
