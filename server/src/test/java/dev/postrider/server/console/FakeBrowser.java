package dev.postrider.server.console;

import dev.postrider.server.stream.ClientConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A connection whose other end takes something, or not. */
final class FakeBrowser implements ClientConnection {
  @Nullable Viewer viewer;

  final List<String> taken = new ArrayList<>();
  boolean takes = true;
  boolean finished;
  boolean cut;

  @Override
  public boolean ready() {
    return takes;
  }

  @Override
  public Duration idle() {
    return Duration.ZERO; // as if it took a byte now and then
  }

  @Override
  public void write(byte[] bytes) {
    taken.add(new String(bytes, StandardCharsets.UTF_8));
  }

  @Override
  public void flush() {}

  @Override
  public void finish() {
    finished = true;
  }

  @Override
  public void cut() {
    cut = true;
  }
}
