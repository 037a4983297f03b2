package dev.postrider.embedded;

import com.sun.security.auth.module.UnixSystem;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Folders and files for the user of this process alone. On systems without POSIX permissions only
 * the user's own profile protects them. Stateless and thread-safe.
 */
public final class OwnerOnly {
  private static final boolean POSIX =
      FileSystems.getDefault().supportedFileAttributeViews().contains("unix");
  private static final Set<PosixFilePermission> RWX = PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> RW = PosixFilePermissions.fromString("rw-------");

  private OwnerOnly() {}

  /**
   * Creates a folder with mode 0700, or makes the existing one so.
   *
   * @throws ForeignFileException if it belongs to another user, or another user could have put
   *     files there
   */
  public static Path folder(Path folder) throws IOException {
    Files.createDirectories(folder.toAbsolutePath().resolve("..").normalize());
    try {
      Files.createDirectory(folder, mode(RWX));
    } catch (FileAlreadyExistsException e) {
      requireOwn(folder);
    }
    if (POSIX) {
      Files.setPosixFilePermissions(folder, RWX);
    }
    return folder;
  }

  /**
   * Creates an empty file with mode 0600, or makes the existing one so.
   *
   * @throws ForeignFileException if it belongs to another user, or another user could have written
   *     to it
   */
  public static Path file(Path file) throws IOException {
    try {
      Files.createFile(file, mode(RW));
    } catch (FileAlreadyExistsException e) {
      requireOwn(file);
    }
    if (POSIX) {
      Files.setPosixFilePermissions(file, RW);
    }
    return file;
  }

  private static FileAttribute<?>[] mode(Set<PosixFilePermission> permissions) {
    return POSIX
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)}
        : new FileAttribute<?>[0];
  }

  /** Writes a file with mode 0600 in place of any other of that name. Readers see all or none. */
  public static void write(Path file, String text) throws IOException {
    Path fresh = Files.createTempFile(file.toAbsolutePath().resolveSibling("."), ".new", "");
    try {
      Files.writeString(fresh, text);
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(fresh);
    }
  }

  /**
   * Refuses what another user owns or may write to. A link counts as well as what it points to.
   *
   * @throws ForeignFileException if so
   */
  public static void requireOwn(Path path) throws IOException {
    if (!POSIX) {
      return;
    }
    Object self = (int) new UnixSystem().getUid();
    if (!self.equals(Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS))
        || !self.equals(Files.getAttribute(path, "unix:uid"))) {
      throw new ForeignFileException(
          path
              + " belongs to another user, so what it holds is not used."
              + " Remove it, or work in a folder of your own.");
    }
    Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(path);
    if (permissions.contains(PosixFilePermission.GROUP_WRITE)
        || permissions.contains(PosixFilePermission.OTHERS_WRITE)) {
      throw new ForeignFileException(
          path
              + " can be written by other users (mode "
              + PosixFilePermissions.toString(permissions)
              + "), so what it holds is not used. Remove it; it is created again with mode 0700.");
    }
  }
}
