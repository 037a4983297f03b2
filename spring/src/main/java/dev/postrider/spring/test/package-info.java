/**
 * Support for tests. What comes in: messages that the application under test publishes. What goes
 * out: assertions on them, and deliveries that the test asks for. It is in the starter, so that the
 * relay is off in tests without a further dependency. Applications do not use this package.
 */
@NullMarked
package dev.postrider.spring.test;

import org.jspecify.annotations.NullMarked;
