package dev.postrider.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTestContextBootstrapper;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * A test of what is published and of the handlers. It has the DataSource, transactions, JDBC, JPA,
 * jOOQ, Jackson and migrations of the application, and a {@link TestOutbox}. Components are not
 * scanned: name those of the test with {@code @Import}. No relay runs; the test delivers with
 * {@link TestOutbox#deliver}.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@BootstrapWith(SpringBootTestContextBootstrapper.class)
@ExtendWith(SpringExtension.class)
@AutoConfigureTestOutbox
@ImportAutoConfiguration
public @interface OutboxTest {}
