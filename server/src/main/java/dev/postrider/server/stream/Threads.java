package dev.postrider.server.stream;

import java.util.concurrent.ThreadFactory;

/** Daemon threads with a name. */
final class Threads {
  private Threads() {}

  static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}
