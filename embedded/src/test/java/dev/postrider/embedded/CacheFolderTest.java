package dev.postrider.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CacheFolderTest {
  @Test
  void isTheUsersOwn() {
    assertThat(CacheFolder.of(Map.of(), "/home/ann", "Linux"))
        .isEqualTo(Path.of("/home/ann/.cache/postrider"));
    assertThat(CacheFolder.of(Map.of(), "/Users/ann", "Mac OS X"))
        .isEqualTo(Path.of("/Users/ann/Library/Caches/postrider"));
    assertThat(CacheFolder.of(Map.of("LOCALAPPDATA", "/ann/local"), "/ann", "Windows 11"))
        .isEqualTo(Path.of("/ann/local/postrider"));
    assertThat(CacheFolder.of(Map.of("XDG_CACHE_HOME", "/var/ann"), "/home/ann", "Linux"))
        .isEqualTo(Path.of("/var/ann/postrider"));
  }

  @Test
  void aRelativePathDoesNotCount() {
    assertThat(CacheFolder.of(Map.of("XDG_CACHE_HOME", "here"), "/home/ann", "Linux"))
        .isEqualTo(Path.of("/home/ann/.cache/postrider"));
    assertThatThrownBy(() -> CacheFolder.of(Map.of(), "?", "Linux"))
        .hasMessageContaining("set XDG_CACHE_HOME");
  }
}
