package dev.postrider.jackson;

import dev.postrider.message.JsonCodec;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.ObjectMapper;

/**
 * Converts payloads with Jackson 3 ({@code tools.jackson}). The mapper decides about names, dates
 * and unknown properties. Thread-safe.
 */
public final class Jackson3Codec implements JsonCodec {
  private final ObjectMapper mapper;

  public Jackson3Codec(ObjectMapper mapper) {
    this.mapper = mapper;
  }

  @Override
  public String write(Object value) {
    try {
      return mapper.writeValueAsString(value);
    } catch (JacksonException e) {
      throw described(e);
    }
  }

  @Override
  public <T> T read(String json, Class<T> type) {
    T value;
    try {
      value = mapper.readValue(json, type);
    } catch (JacksonException e) {
      throw described(e);
    }
    return JacksonErrors.notNull(value);
  }

  /** Jackson's own text without its source location, which may quote the document. */
  private static IllegalArgumentException described(JacksonException e) {
    String path = e instanceof DatabindException bound ? bound.getPathReference() : "";
    return JacksonErrors.at(path, e.getOriginalMessage(), e);
  }
}
