/**
 * What users need to test code that uses Postrider: a contract for destinations of their own, and a
 * real database. Comes in: a destination to judge. Goes out: JUnit 5 tests. Nothing here is for
 * production.
 */
@NullMarked
package dev.postrider.testkit;

import org.jspecify.annotations.NullMarked;
