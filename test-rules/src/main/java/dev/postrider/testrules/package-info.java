/**
 * Rules for tests of every module. Comes in: annotated JUnit 5 tests. Goes out: how they are run.
 */
@NullMarked
package dev.postrider.testrules;

import org.jspecify.annotations.NullMarked;
