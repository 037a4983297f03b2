package dev.postrider.spring.test;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.TypeExcludeFilter;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * Switches the relay off in tests: a cached context would keep its relay running and take the
 * messages of later tests. With {@code @SpringBootTest} a property may switch it on. For {@link
 * OutboxTest} it also switches off the scan for components and the auto-configuration that is not
 * listed.
 */
final class OutboxContextCustomizerFactory implements ContextCustomizerFactory {
  @Override
  public ContextCustomizer createContextCustomizer(
      Class<?> testClass, List<ContextConfigurationAttributes> attributes) {
    return new Customizer(
        TestContextAnnotationUtils.hasAnnotation(testClass, OutboxTest.class), isSlice(testClass));
  }

  /** Slices of Spring Boot, such as {@code @DataJpaTest}, have this annotation. */
  private static boolean isSlice(Class<?> testClass) {
    return MergedAnnotations.search(SearchStrategy.TYPE_HIERARCHY)
        .withEnclosingClasses(TestContextAnnotationUtils::searchEnclosingClass)
        .from(testClass)
        .isPresent("org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration");
  }

  /** Equal ones share a cached context. */
  private record Customizer(boolean outboxTest, boolean slice) implements ContextCustomizer {
    @Override
    public void customizeContext(
        ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
      MutablePropertySources properties = context.getEnvironment().getPropertySources();
      MapPropertySource off =
          new MapPropertySource("postrider-tests", Map.of("postrider.relay.enabled", "false"));
      if (outboxTest || slice) {
        properties.addFirst(off); // whatever the application's own properties say
      } else {
        properties.addLast(off);
      }
      if (outboxTest) {
        properties.addFirst(
            new MapPropertySource(
                "postrider-slice",
                Map.of(EnableAutoConfiguration.ENABLED_OVERRIDE_PROPERTY, "false")));
        context.getBeanFactory().registerSingleton("postriderTypeFilter", new NoComponents());
      }
    }
  }

  /** Component scans find nothing. */
  private static final class NoComponents extends TypeExcludeFilter {
    @Override
    public boolean match(MetadataReader reader, MetadataReaderFactory readers) {
      return true;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof NoComponents;
    }

    @Override
    public int hashCode() {
      return NoComponents.class.hashCode();
    }
  }
}
