package dev.postrider.bench;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * The processes of a run: started when first needed and kept, so that a round finds compiled code.
 * Between measurements they hold no connection. Used by one thread.
 */
final class PeerProcesses implements AutoCloseable {
  private final String url;
  private final Map<String, PeerProcess> running = new HashMap<>();

  PeerProcesses(String url) {
    this.url = url;
  }

  PeerProcess of(Contestant contestant) throws IOException {
    return of(contestant, "");
  }

  /** Another one for another part. */
  PeerProcess of(Contestant contestant, String part) throws IOException {
    String key = contestant.name() + "/" + part;
    PeerProcess process = running.get(key);
    if (process == null) {
      process = PeerProcess.start(contestant, url);
      running.put(key, process);
    }
    return process;
  }

  /** After a failure their state is unknown. */
  void discard(Contestant contestant) {
    running
        .entrySet()
        .removeIf(
            entry -> {
              boolean its = entry.getKey().startsWith(contestant.name() + "/");
              if (its) {
                entry.getValue().close();
              }
              return its;
            });
  }

  @Override
  public void close() {
    running.values().forEach(PeerProcess::close);
  }
}
