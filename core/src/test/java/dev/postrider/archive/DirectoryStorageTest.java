package dev.postrider.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.internal.archive.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("OP-8")
class DirectoryStorageTest {
  @TempDir private Path directory = Path.of("");

  private void write(String name, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try (ArchiveStorage storage = new DirectoryStorage(directory);
        ArchiveStorage.Draft draft = storage.start()) {
      try (OutputStream out = draft.content()) {
        out.write(bytes);
      }
      assertThat(directory.resolve(name))
          .satisfiesAnyOf(
              file -> assertThat(file).doesNotExist(), file -> assertThat(file).hasContent("one"));
      draft.publish(name, bytes.length, HexFormat.of().formatHex(Sha256.start().digest(bytes)));
    }
  }

  @Test
  void aFileIsThereWhenItIsPublished() throws Exception {
    write("a", "one");
    assertThat(directory.resolve("a")).hasContent("one");
    write("a", "one");
    assertThat(directory).isDirectoryNotContaining("glob:**.tmp");
  }

  @Test
  void aFileWithOtherContentsIsNotOverwritten() throws Exception {
    write("a", "one");
    assertThatThrownBy(() -> write("a", "two"))
        .isInstanceOf(ArchiveStorageException.class)
        .hasMessageContaining("other contents");
    assertThat(directory.resolve("a")).hasContent("one");
    assertThat(directory).isDirectoryNotContaining("glob:**.tmp");
  }

  @Test
  void aDraftThatIsNotPublishedLeavesNothing() throws Exception {
    DirectoryStorage storage = new DirectoryStorage(directory);
    try (ArchiveStorage.Draft draft = storage.start()) {
      draft.content().write(1);
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void theCheckFindsWhatARunCouldNotCreate() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    new DirectoryStorage(directory.resolve("new/archive")).check();
    assertThat(directory.resolve("new")).doesNotExist();
    assertThatThrownBy(() -> new DirectoryStorage(file.resolve("archive")).check())
        .isInstanceOf(ArchiveStorageException.class)
        .hasMessageContaining(file + " is not a directory");
  }
}
