package dev.postrider.server.messages;

import dev.postrider.schema.Schema;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Feature;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Enqueue, search, look, history. Thread-safe if the data source is. */
public final class MessagesFeature implements Feature {
  private final List<Endpoint> endpoints = new ArrayList<>();

  public MessagesFeature(DataSource dataSource, Schema schema) {
    endpoints.addAll(new EnqueueEndpoints(dataSource, schema).list());
    endpoints.addAll(new SearchEndpoints(dataSource, schema).list());
    endpoints.addAll(new EventEndpoints(dataSource, schema).list());
  }

  @Override
  public List<Endpoint> endpoints() {
    return List.copyOf(endpoints);
  }
}
