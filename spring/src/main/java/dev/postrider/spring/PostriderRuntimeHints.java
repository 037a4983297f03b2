package dev.postrider.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** For native images: the SQL of the schema is read from resources. */
final class PostriderRuntimeHints implements RuntimeHintsRegistrar {
  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader classes) {
    hints.resources().registerPattern("dev/postrider/schema/*");
  }
}
