package dev.postrider.verify.chaos;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Where a run takes place: a directory with the journals, and the addresses of the servers. Child
 * processes read it from the directory's file. Immutable.
 */
record Scene(Path directory, long seed, int rate, String jdbcUrl, String amqpUri, String kafka) {
  static final String NAMESPACE = "shop";

  /** Topics, each for one destination; the last has subscriptions. */
  static final String HANDLED = "handled";

  static final String RABBIT = "rabbit";
  static final String KAFKA = "kafka";
  static final String BOTH = "both";

  /** The sinks that only subscriptions of {@link #BOTH} have. */
  static final String COPY_HANDLED = "copy-handled";

  static final String COPY_RABBIT = "copy-rabbit";

  static final String EXCHANGE = "chaos";
  static final String QUEUE = "chaos";
  static final String COPY_EXCHANGE = "chaos-copies";
  static final String COPY_QUEUE = "chaos-copies";
  static final String KAFKA_TOPIC = "chaos-";
  static final String GOOD = "good";
  static final String BAD = "bad";
  static final String POISON = "-poison";
  static final String STUCK = "stuck";
  static final String SLOW = "slow";

  private static final String FILE = "scene.properties";

  static Scene read(Path directory) {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(directory.resolve(FILE))) {
      properties.load(reader);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Scene(
        directory,
        Long.parseLong(properties.getProperty("seed", "")),
        Integer.parseInt(properties.getProperty("rate", "")),
        properties.getProperty("jdbcUrl", ""),
        properties.getProperty("amqpUri", ""),
        properties.getProperty("kafka", ""));
  }

  void write() {
    Properties properties = new Properties();
    properties.setProperty("seed", Long.toString(seed));
    properties.setProperty("rate", Integer.toString(rate));
    properties.setProperty("jdbcUrl", jdbcUrl);
    properties.setProperty("amqpUri", amqpUri);
    properties.setProperty("kafka", kafka);
    try (Writer writer = Files.newBufferedWriter(directory.resolve(FILE))) {
      properties.store(writer, null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  PGSimpleDataSource dataSource(String name) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(jdbcUrl);
    dataSource.setApplicationName(name);
    return dataSource;
  }

  /** From now on producers write nothing new. */
  void stopProducing() {
    touch("stop");
  }

  boolean producing() {
    return !Files.exists(directory.resolve("stop"));
  }

  /** From now on nothing fails any more: stuck keys, bad targets, poison. */
  void mend() {
    touch("mended");
  }

  boolean mended() {
    return Files.exists(directory.resolve("mended"));
  }

  private void touch(String file) {
    try {
      Files.writeString(directory.resolve(file), "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
