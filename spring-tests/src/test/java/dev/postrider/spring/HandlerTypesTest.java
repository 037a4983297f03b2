package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.JsonCodec;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import dev.postrider.message.Route;
import dev.postrider.schema.Schema;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.transaction.PlatformTransactionManager;

/** Handlers whose types are not known, and what they throw. */
@Tag("OP-5")
class HandlerTypesTest {
  static class Missing {}

  static class Broken {
    @OutboxHandler(namespace = "shop", topic = "orders")
    void created(Missing event) {}
  }

  abstract static class Generic<T> {
    @OutboxHandler(namespace = "shop", topic = "orders")
    void created(T event) {}
  }

  @SuppressWarnings("rawtypes")
  static class Raw extends Generic {}

  static class Typed extends Generic<Missing> {}

  static class Deep {
    @OutboxHandler(namespace = "shop", topic = "orders", terminal = StackOverflowError.class)
    void created(String payload) {
      throw payload.equals("deep") ? new StackOverflowError() : new AssertionError("other");
    }
  }

  /** Reads nothing. */
  private static final class NoCodec implements JsonCodec {
    @Override
    public String write(Object value) {
      throw new UnsupportedOperationException();
    }

    @Override
    public <T> T read(String json, Class<T> type) {
      throw new UnsupportedOperationException();
    }
  }

  /** Loads a class of its own, without the one that its method takes. */
  private static final class WithoutMissing extends ClassLoader {
    WithoutMissing() {
      super(HandlerTypesTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.equals(Missing.class.getName())) {
        throw new ClassNotFoundException(name);
      }
      return name.equals(Broken.class.getName()) ? broken(name) : super.loadClass(name, resolve);
    }

    private Class<?> broken(String name) throws ClassNotFoundException {
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      String file = name.replace('.', '/') + ".class";
      try (InputStream in = getParent().getResourceAsStream(file)) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  private static List<Handlers.Found> found(Class<?> bean) {
    DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    beans.registerBeanDefinition("mails", new RootBeanDefinition(bean));
    return new Handlers(
            beans,
            new OutboxSchema(new SimpleDriverDataSource(), Schema.DEFAULT),
            new Handlers.Parts(
                "",
                Set.of(),
                new NoCodec(),
                beans.getBeanProvider(PlatformTransactionManager.class),
                HandlerScope.NONE))
        .find();
  }

  @Test
  void aBeanWithAMissingTypeIsNamed() throws Exception {
    Class<?> broken = Class.forName(Broken.class.getName(), false, new WithoutMissing());
    assertThatThrownBy(() -> found(broken))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("The bean \"mails\" cannot be searched for @OutboxHandler methods")
        .hasMessageContaining(Missing.class.getName());
  }

  @Test
  void aPayloadOfUnknownTypeIsReported() {
    assertThat(found(Typed.class)).hasSize(1);
    assertThatThrownBy(() -> found(Raw.class))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("takes a T, and " + Raw.class.getName() + " does not say what");
  }

  @Test
  void anErrorCanBeTerminal() throws Exception {
    Handlers.Found handler = found(Deep.class).get(0);
    assertThat(handler.handler().handle(message("deep"))).isInstanceOf(Outcome.Terminal.class);
    assertThatThrownBy(() -> handler.handler().handle(message("flat")))
        .isInstanceOf(AssertionError.class)
        .hasMessage("other");
  }

  private static Message message(String text) {
    return new Message(
        UUID.randomUUID(),
        new Route("shop", "orders"),
        null,
        0,
        null,
        null,
        null,
        null,
        null,
        "text/plain",
        false,
        Map.of(),
        text.getBytes(StandardCharsets.UTF_8),
        Instant.now(),
        1,
        1,
        0);
  }
}
