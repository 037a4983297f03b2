package dev.postrider.bench.peer.modulith;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.bench.peer.Peer;
import dev.postrider.bench.peer.Site;
import java.util.function.Consumer;
import org.springframework.modulith.events.ApplicationModuleListener;

/**
 * An event per message and one listener. Completed publications are deleted, the mode that keeps
 * the table small. In the process that published, the listener runs after the commit; what another
 * process published is found by resubmitting incomplete publications all the time.
 */
public final class ModulithPeer implements Peer {

  /** What is stored. */
  public record Placed(String payload) {}

  /** What is called. */
  public static class Receiver {
    private final Consumer<String> handler;

    Receiver(Consumer<String> handler) {
      this.handler = handler;
    }

    @ApplicationModuleListener
    public void on(Placed placed) {
      handler.accept(placed.payload());
    }
  }

  @Override
  public void install(Site site) throws Exception {
    site.execute("drop table if exists event_publication, event_publication_archive");
    open(site, Role.PRODUCER, payload -> {}).close(); // creates it
  }

  @Override
  public String idle() {
    return "select not exists (select 1 from event_publication)";
  }

  @Override
  public Session open(Site site, Role role, Consumer<String> handler) throws InterruptedException {
    HikariDataSource pool = site.pool(ModulithSession.THREADS + 8);
    return new ModulithSession(pool, role, new Receiver(handler));
  }
}
