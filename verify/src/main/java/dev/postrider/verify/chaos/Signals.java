package dev.postrider.verify.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Sends signals to processes that the run has started. */
final class Signals {
  private Signals() {}

  /** Does nothing if the process has ended meanwhile. */
  static void send(String signal, long pid) {
    try {
      new ProcessBuilder("kill", signal, Long.toString(pid))
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
