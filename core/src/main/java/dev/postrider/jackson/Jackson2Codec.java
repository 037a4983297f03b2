package dev.postrider.jackson;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.postrider.message.JsonCodec;

/**
 * Converts payloads with Jackson 2 ({@code com.fasterxml.jackson}). The mapper decides about names,
 * dates and unknown properties; Jackson 2 refuses unknown properties unless told otherwise.
 * Thread-safe.
 */
public final class Jackson2Codec implements JsonCodec {
  private final ObjectMapper mapper;

  public Jackson2Codec(ObjectMapper mapper) {
    this.mapper = mapper;
  }

  @Override
  public String write(Object value) {
    try {
      return mapper.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw described(e);
    }
  }

  @Override
  public <T> T read(String json, Class<T> type) {
    T value;
    try {
      value = mapper.readValue(json, type);
    } catch (JsonProcessingException e) {
      throw described(e);
    }
    return JacksonErrors.notNull(value);
  }

  /** Jackson's own text without its source location, which may quote the document. */
  private static IllegalArgumentException described(JsonProcessingException e) {
    String path = e instanceof JsonMappingException bound ? bound.getPathReference() : "";
    return JacksonErrors.at(path, e.getOriginalMessage(), e);
  }
}
