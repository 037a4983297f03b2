package dev.postrider.spring;

import dev.postrider.destination.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;

/** Surrounds each call of a handler, for tracing. Thread-safe. */
@FunctionalInterface
interface HandlerScope {
  /** Adds nothing. */
  HandlerScope NONE = (name, message, handler) -> handler.handle(message);

  Outcome call(String name, Message message, MessageHandler handler) throws Exception;
}
