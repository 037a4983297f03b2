package dev.postrider.kafka;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What is logged, by Kafka's client too, with the traces of exceptions. Thread-safe. */
final class LogLines implements AutoCloseable {
  private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
  private final Logger kafka = (Logger) LoggerFactory.getLogger("org.apache.kafka");
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          lines.add(
              event.getFormattedMessage() + ThrowableProxyUtil.asString(event.getThrowableProxy()));
        }
      };

  LogLines() {
    appender.start();
    root.addAppender(appender);
    kafka.setLevel(Level.INFO);
    kafka.setAdditive(true);
  }

  List<String> all() {
    return lines;
  }

  @Override
  public void close() {
    root.detachAppender(appender);
    kafka.setLevel(Level.ERROR);
  }
}
