package dev.postrider.spring.test;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Lets each test begin with no published messages. */
final class OutboxTestExecutionListener implements TestExecutionListener {
  @Override
  public void beforeTestMethod(TestContext test) {
    if (test.hasApplicationContext()) {
      test.getApplicationContext().getBeanProvider(TestOutbox.class).ifAvailable(TestOutbox::clear);
    }
  }
}
