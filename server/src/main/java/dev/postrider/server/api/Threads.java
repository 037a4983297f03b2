package dev.postrider.server.api;

import java.util.concurrent.ThreadFactory;

/** Daemon threads with a name. */
public final class Threads {
  private Threads() {}

  public static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}
