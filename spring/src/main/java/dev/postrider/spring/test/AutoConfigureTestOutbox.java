package dev.postrider.spring.test;

import dev.postrider.spring.PostriderTestAutoConfiguration;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/** Adds a {@link TestOutbox} to a test with {@code @SpringBootTest}. */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration(PostriderTestAutoConfiguration.class)
public @interface AutoConfigureTestOutbox {}
