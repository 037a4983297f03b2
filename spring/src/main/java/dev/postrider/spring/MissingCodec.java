package dev.postrider.spring;

import dev.postrider.message.JsonCodec;

/** Stands for the codec of an application without one, and says what is missing. Immutable. */
final class MissingCodec implements JsonCodec {
  static final String REASON = "there is no JSON mapper, or several of which none is primary";
  static final String ACTION =
      "Add spring-boot-starter-json. If there are several mappers, mark one with @Primary, or"
          + " define a bean of type JsonCodec.";

  @Override
  public String write(Object value) {
    throw new IllegalStateException(REASON + ". " + ACTION);
  }

  @Override
  public <T> T read(String json, Class<T> type) {
    throw new IllegalStateException(REASON + ". " + ACTION);
  }
}
