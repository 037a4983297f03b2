package dev.postrider.archive.s3;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file that only this process sees. On Unix it has no name, so nothing is left when the process
 * is killed. Not a FileChannel, because that is closed when a request times out and its thread is
 * interrupted. Not thread-safe.
 */
final class TemporaryFile implements Closeable {
  private final Path path;
  private final RandomAccessFile file;

  TemporaryFile(Path directory) throws IOException {
    Files.createDirectories(directory);
    path = Files.createTempFile(directory, "postrider-", ".tmp");
    file = new RandomAccessFile(path.toFile(), "rw");
    deleteName();
  }

  private void deleteName() {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      path.toFile().deleteOnExit(); // Windows keeps the name of an open file
    }
  }

  /** Appends. Closing it does not close the file. */
  OutputStream output() {
    return new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        file.write(b);
      }

      @Override
      public void write(byte[] from, int offset, int length) throws IOException {
        file.write(from, offset, length);
      }
    };
  }

  /** Reads from the start. Closing it does not close the file. */
  InputStream input() {
    return new InputStream() {
      private long position;

      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] to, int offset, int length) throws IOException {
        file.seek(position);
        int count = file.read(to, offset, length);
        position += Math.max(count, 0);
        return count;
      }
    };
  }

  @Override
  public void close() throws IOException {
    file.close();
    Files.deleteIfExists(path);
  }
}
