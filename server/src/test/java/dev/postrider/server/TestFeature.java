package dev.postrider.server;

import dev.postrider.access.Permission;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Feature;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** One endpoint, {@code /v1/test}, that does what a test wants. */
record TestFeature(Callable<String> work) implements Feature {
  @Override
  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.get("/v1/test", Permission.READ)
            .about("test", "What a test wants")
            .answers(Map.class)
            .handledBy(call -> Map.of("answer", run())));
  }

  private String run() throws java.sql.SQLException {
    try {
      return work.call();
    } catch (java.sql.SQLException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
