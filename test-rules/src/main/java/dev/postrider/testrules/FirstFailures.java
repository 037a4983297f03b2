package dev.postrider.testrules;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/** Remembers the failures of this JVM, in which the build also runs failed tests once more. */
final class FirstFailures implements BeforeEachCallback, TestWatcher {
  private static final Map<String, Throwable> FAILURES = new ConcurrentHashMap<>();

  @Override
  public void testFailed(ExtensionContext test, Throwable failure) {
    FAILURES.putIfAbsent(test.getUniqueId(), failure);
  }

  @Override
  public void beforeEach(ExtensionContext test) {
    Throwable first = FAILURES.get(test.getUniqueId());
    if (first != null) {
      throw new AssertionError("failed before, and gets no second chance: " + first, first);
    }
  }
}
