package dev.postrider.testrules;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * For tests of races that look for a lost message or a broken order, and for tests with random
 * input. The build runs a failed test once more. Such a test then fails at once, with its first
 * failure: what is seen once is a fault, even if the next run does not meet it.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(FirstFailures.class)
public @interface NoSecondChance {}
