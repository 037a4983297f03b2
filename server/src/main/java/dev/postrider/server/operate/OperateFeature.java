package dev.postrider.server.operate;

import dev.postrider.schema.Schema;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Feature;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Everything that operators look at and do. Thread-safe if the data source is. */
public final class OperateFeature implements Feature {
  private final List<Endpoint> endpoints = new ArrayList<>();
  private final ReplayEndpoints replays;

  public OperateFeature(DataSource dataSource, Schema schema) {
    this.replays = new ReplayEndpoints(dataSource, schema);
    endpoints.addAll(new OverviewEndpoints(dataSource, schema).list());
    endpoints.addAll(new DeadEndpoints(dataSource, schema).list());
    endpoints.addAll(replays.list());
    endpoints.addAll(new KeyEndpoints(dataSource, schema).list());
    endpoints.addAll(new PauseEndpoints(dataSource, schema).list());
    endpoints.addAll(new SubscriptionEndpoints(dataSource, schema, replays).list());
    endpoints.addAll(new TokenEndpoints(dataSource, schema).list());
  }

  @Override
  public List<Endpoint> endpoints() {
    return List.copyOf(endpoints);
  }

  @Override
  public void close() {
    replays.close();
  }
}
